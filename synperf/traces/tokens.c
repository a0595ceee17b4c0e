/* What stands in a run of JSON objects, as columns: whole numbers, decimals, and texts of which each is kept once.

   scan(text, outer, inner, types, missing, digits, args): of a text of objects with commas between them, the values of
   some keys. `outer` and `inner` are tuples of keys, of an object and of the object under its key `args`; `types` has a
   letter for each of them: w a whole number, d a decimal, s a string, v a string, null or a number of up to LONGEST
   letters without an exponent, r anything. A number may be a string or null too. Of a key that is there twice the last
   one counts. None where the text is not strictly that: bad JSON, another type, an escape in a key, nesting beyond
   DEEPEST; such a text is for a reader that mends.

   Else (rows, whether there may be bytes above 127, columns), where columns has for each key one of
     None: no object has it;
     int64 of each row: of a w whose values are all plain whole numbers, up to 18 digits, and that of `missing` (an
       int64 for each key) where there is none; of a d whose values are all plain decimals, quoted or not, times
       10**digits, rounded to whole, a half away from zero, and the least int64 where there is none;
     (int32 of each row, bytes of each value): of all others which value it is, by the order in which values come;
       values are alike where their bytes are, and where there is none it is no bytes.

   renumbered(codes, values): int32 codes below `values` as they come: (int32 of each row, which code each new one is). */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef const unsigned char *Bytes;

enum { DEEPEST = 64, BUCKETS = 256, MOST_KEYS = 64, DIGITS = 18, LONGEST = 24, GUESSES = 32 };
enum { STRING = 1, NUMBER, NOTHING, OTHER };   /* kinds of values; 0 is bad JSON */
enum { UNKNOWN = -1, ARGUMENTS = -2 };         /* of keys: one that is not asked for; that of the inner object */

typedef struct {
    Bytes text;
    int length;
    char type;
    int next; /* with the same hash, or -1 */
    int64_t missing;
} Key;

typedef struct {
    Key keys[MOST_KEYS];
    int heads[2][BUCKETS]; /* of outer and of inner keys */
    int outer, count;
} Keys;

typedef struct {
    int32_t *places; /* where each value begins, -1 where there is none, and how many bytes it has */
    size_t filled, room; /* rows */
    int64_t *numbers;    /* of each row, where all are plain */
    int32_t *codes, *first; /* where not: the value of each row, and the first row of each value */
    Py_ssize_t values;
} Found;

typedef struct {
    Bytes text; /* in quotes */
    int length, key;
} Guess;

typedef struct {
    Bytes begin, at, end;
    Found found[MOST_KEYS];
    Guess guesses[2][GUESSES]; /* the keys of the last object, one after the other: the next one mostly has the same */
    size_t rows;
    uint64_t high; /* all bytes, or-ed */
    int is_full;   /* there was no memory */
} Scan;

/* ---- a strict reader: each function begins at a value and ends behind it, or says 0 ---- */

static void blanks(Scan *scan) {
    while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\n' || *scan->at == '\r' || *scan->at == '\t'))
        scan->at++;
}

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))
#define ZERO(word) (((word) - EACH(1)) & ~(word)) /* the high bit of the first byte that is 0, and of none before it */

/* Whether two texts of that length are the same; most are short, for which a call takes longer than this. */
static int same(Bytes one, Bytes other, int length) {
    uint64_t a, b;
    for (; length >= 8; one += 8, other += 8, length -= 8) {
        memcpy(&a, one, 8);
        memcpy(&b, other, 8);
        if (a != b) return 0;
    }
    for (; length > 0; length--)
        if (*one++ != *other++) return 0;
    return 1;
}

/* Behind the next letters that are plain ones of a string. */
static Bytes plain(Scan *scan, Bytes at) {
#if defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    for (; scan->end - at >= 8; at += 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        scan->high |= word;
        uint64_t quote = word ^ EACH('"'), slash = word ^ EACH('\\');
        uint64_t special = (ZERO(quote) | ZERO(slash) | ((word - EACH(32)) & ~word)) & EACH(128);
        if (special) return at + (__builtin_ctzll(special) >> 3);
    }
#endif
    for (; at < scan->end && *at != '"' && *at != '\\' && *at >= 32; at++) scan->high |= *at;
    return at;
}

/* 1; 2 where it has escapes. */
static int string(Scan *scan) {
    int found = 1;
    Bytes at = plain(scan, scan->at + 1);
    while (at < scan->end && *at == '\\') { /* halves of letters, behind u, are mended elsewhere */
        if (++at >= scan->end || *at == 'u' || !memchr("\"\\/bfnrt", *at, 8)) return 0;
        at = plain(scan, at + 1);
        found = 2;
    }
    if (at >= scan->end || *at != '"') return 0;
    scan->at = at + 1;
    return found;
}

static int digits(Scan *scan) {
    Bytes first = scan->at;
    while (scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9') scan->at++;
    return scan->at > first;
}

static int number(Scan *scan) {
    if (*scan->at == '-') scan->at++;
    Bytes first = scan->at;
    if (!digits(scan) || (*first == '0' && scan->at > first + 1)) return 0;
    if (scan->at < scan->end && *scan->at == '.') {
        scan->at++;
        if (!digits(scan)) return 0;
    }
    if (scan->at >= scan->end || (*scan->at != 'e' && *scan->at != 'E')) return NUMBER;
    scan->at++;
    if (scan->at < scan->end && (*scan->at == '+' || *scan->at == '-')) scan->at++;
    return digits(scan) ? OTHER : 0;
}

static int word(Scan *scan, const char *letters, int length) {
    if (scan->end - scan->at < length || memcmp(scan->at, letters, length)) return 0;
    scan->at += length;
    return OTHER;
}

/* What it is: STRING, NUMBER, NOTHING or OTHER, which numbers with an exponent are too. */
static int value(Scan *scan, int deep) {
    if (scan->at >= scan->end || deep > DEEPEST) return 0;
    unsigned char letter = *scan->at;
    switch (letter) {
    case '"': return string(scan) ? STRING : 0;
    case 't': return word(scan, "true", 4);
    case 'f': return word(scan, "false", 5);
    case 'n': return word(scan, "null", 4) ? NOTHING : 0;
    case '{':
    case '[': break;
    default: return (letter == '-' || (letter >= '0' && letter <= '9')) ? number(scan) : 0;
    }
    unsigned char close = letter == '{' ? '}' : ']';
    scan->at++;
    blanks(scan);
    if (scan->at < scan->end && *scan->at == close) return scan->at++, OTHER;
    for (;;) {
        if (letter == '{') {
            if (scan->at >= scan->end || *scan->at != '"' || !string(scan)) return 0;
            blanks(scan);
            if (scan->at >= scan->end || *scan->at++ != ':') return 0;
            blanks(scan);
        }
        if (!value(scan, deep + 1)) return 0;
        blanks(scan);
        if (scan->at >= scan->end) return 0;
        if (*scan->at == close) return scan->at++, OTHER;
        if (*scan->at++ != ',') return 0;
        blanks(scan);
    }
}

static int is_of_type(char type, int kind, Py_ssize_t length) {
    if (type == 'r' || type == 'd' || kind == STRING) return 1;
    return type != 's' && kind != OTHER && length <= LONGEST;
}

/* ---- rows ---- */

static unsigned hash_of(Bytes text, int length) {
    return (unsigned)(text[0] * 7 + text[length - 1] * 31 + text[length / 2] * 3 + length) % BUCKETS;
}

static int find(const Keys *keys, int inner, Bytes text, int length) {
    if (!length) return UNKNOWN;
    int found = keys->heads[inner][hash_of(text, length)];
    while (found >= 0 && (keys->keys[found].length != length || !same(keys->keys[found].text, text, length)))
        found = keys->keys[found].next;
    return found;
}

/* Makes room for that many rows. */
static int grow(Scan *scan, Found *found, size_t room) {
    int32_t *more = realloc(found->places, room * 2 * sizeof(int32_t));
    if (!more) return scan->is_full = 1, 0;
    found->places = more;
    found->room = room;
    return 1;
}

/* Says of rows up to that one, which have none, that they have no value. */
static void blank(Found *found, size_t rows) {
    if (rows > found->filled) memset(found->places + 2 * found->filled, -1, (rows - found->filled) * 2 * sizeof(int32_t));
    found->filled = rows;
}

/* Notes where the value of a key is in this row. */
static int note(Scan *scan, int key, Bytes begin) {
    Found *found = &scan->found[key];
    size_t row = scan->rows;
    if (row >= found->room && !grow(scan, found, row + row / 2 + 512)) return 0;
    if (row >= found->filled) blank(found, row);
    found->places[2 * row] = (int32_t)(begin - scan->begin);
    found->places[2 * row + 1] = (int32_t)(scan->at - begin);
    found->filled = row + 1;
    return 1;
}

/* Forgets what the inner keys have in this row. */
static void forget(Scan *scan, const Keys *keys) {
    for (int key = keys->outer; key < keys->count; key++)
        if (scan->found[key].filled > scan->rows) scan->found[key].filled = scan->rows;
}

/* The key at this place: its number, UNKNOWN or ARGUMENTS; `guess` may be right. */
static int key(Scan *scan, const Keys *keys, int inner, const Key *args, Guess *guess, int *found) {
    Bytes text = scan->at;
    if (guess->length && scan->end - text >= guess->length && same(text, guess->text, guess->length)) {
        scan->at += guess->length;
        *found = guess->key;
        return 1;
    }
    if (text >= scan->end || *text != '"' || string(scan) != 1) return 0;
    int length = (int)(scan->at - text) - 2;
    if (!inner && length == args->length && same(text + 1, args->text, length))
        *found = ARGUMENTS;
    else
        *found = find(keys, inner, text + 1, length);
    guess->text = text;
    guess->length = length + 2;
    guess->key = *found;
    return 1;
}

/* The object at this place. */
static int object(Scan *scan, const Keys *keys, int inner, const Key *args) {
    if (scan->at >= scan->end || *scan->at != '{') return 0;
    scan->at++;
    blanks(scan);
    if (scan->at < scan->end && *scan->at == '}') return scan->at++, 1;
    for (int place = 0;; place += place < GUESSES - 1) {
        int found;
        if (!key(scan, keys, inner, args, &scan->guesses[inner][place], &found)) return 0;
        blanks(scan);
        if (scan->at >= scan->end || *scan->at++ != ':') return 0;
        blanks(scan);
        Bytes begin = scan->at;
        if (begin >= scan->end) return 0;
        if (found == ARGUMENTS) {
            forget(scan, keys); /* of an object that is there twice the last one counts */
            if (!object(scan, keys, 1, args)) return 0;
        } else {
            int kind = value(scan, 0);
            if (!kind) return 0;
            if (found >= 0 && !(is_of_type(keys->keys[found].type, kind, scan->at - begin) && note(scan, found, begin)))
                return 0;
        }
        blanks(scan);
        if (scan->at >= scan->end) return 0;
        if (*scan->at == '}') return scan->at++, 1;
        if (*scan->at++ != ',') return 0;
        blanks(scan);
    }
}

/* 0 where the text is not strictly rows, or there is no memory. */
static int rows(Scan *scan, const Keys *keys, const Key *args) {
    blanks(scan);
    for (;;) {
        if (!object(scan, keys, 0, args)) return 0;
        scan->rows++;
        blanks(scan);
        if (scan->at == scan->end) return 1;
        if (*scan->at++ != ',') return 0;
        blanks(scan);
    }
}

/* Adds the keys of a tuple. */
static int add_keys(Keys *keys, PyObject *tuple, int inner, const char *types, const char *missing) {
    Py_ssize_t count = PyTuple_Size(tuple);
    if (count < 0) return 0;
    for (Py_ssize_t place = 0; place < count; place++) {
        char *text;
        Py_ssize_t length;
        if (PyBytes_AsStringAndSize(PyTuple_GetItem(tuple, place), &text, &length) < 0) return 0;
        if (keys->count == MOST_KEYS || length < 1 || length > 255) {
            PyErr_SetString(PyExc_ValueError, "keys: too many, or one of a length beyond 1..255");
            return 0;
        }
        Key *key = &keys->keys[keys->count];
        unsigned hash = hash_of((Bytes)text, (int)length);
        key->text = (Bytes)text;
        key->length = (int)length;
        key->type = types[keys->count];
        memcpy(&key->missing, missing + (size_t)keys->count * sizeof(int64_t), sizeof(int64_t));
        key->next = keys->heads[inner][hash];
        keys->heads[inner][hash] = keys->count++;
        keys->outer += !inner;
    }
    return 1;
}

/* ---- columns: of a key whose places are known of all rows ---- */

/* A plain whole number, -?[0-9]{1,18}; 0 where it is none. */
static int is_whole(Bytes at, Bytes end, int64_t *number) {
    int minus = at < end && *at == '-';
    at += minus;
    if (at >= end || end - at > DIGITS) return 0;
    int64_t found = 0;
    for (; at < end; at++) {
        if (*at < '0' || *at > '9') return 0;
        found = 10 * found + (*at - '0');
    }
    *number = minus ? -found : found;
    return 1;
}

/* A plain decimal times 10**digits; 0 where it is none, or one of too many digits. */
static int is_scaled(Bytes at, Bytes end, int digits, int64_t *number) {
    if (end - at > 1 && *at == '"' && end[-1] == '"') at++, end--;
    int minus = at < end && *at == '-', behind = -1, seen = 0;
    at += minus;
    int64_t found = 0;
    for (; at < end; at++) {
        if (*at == '.') {
            if (behind >= 0 || !seen) return 0;
            behind = 0;
            continue;
        }
        if (*at < '0' || *at > '9') return 0;
        if (behind == digits) { /* the first digit that is cut off rounds; the others cannot change it */
            found += *at >= '5';
            for (at++; at < end; at++)
                if (*at < '0' || *at > '9') return 0;
            break;
        }
        if (found > (INT64_MAX - 9) / 10) return 0;
        seen = 1;
        found = 10 * found + (*at - '0');
        behind += behind >= 0;
    }
    if (!seen || behind == 0) return 0;
    for (int more = behind < 0 ? 0 : behind; more < digits; more++) {
        if (found > INT64_MAX / 10) return 0;
        found *= 10;
    }
    *number = minus ? -found : found;
    return 1;
}

/* The numbers of all rows; 0 where one of them is not plain, or there is no memory. */
static int numbers(Scan *scan, const Key *key, Found *found, int digits) {
    if (!(found->numbers = malloc(scan->rows * sizeof(int64_t)))) return scan->is_full = 1, 0;
    int plain = 1;
    for (size_t row = 0; plain && row < scan->rows; row++) {
        int32_t begin = found->places[2 * row];
        if (begin < 0) {
            found->numbers[row] = key->type == 'd' ? INT64_MIN : key->missing;
            continue;
        }
        Bytes at = scan->begin + begin, end = at + found->places[2 * row + 1];
        plain = key->type == 'd' ? is_scaled(at, end, digits, &found->numbers[row])
                                 : is_whole(at, end, &found->numbers[row]);
    }
    if (plain) return 1;
    free(found->numbers);
    found->numbers = NULL;
    return 0;
}

static uint64_t mixed(Bytes at, int32_t length) {
    uint64_t found = 0x9E3779B97F4A7C15u ^ (uint64_t)length, part = 0;
    for (; length >= 8; at += 8, length -= 8) {
        memcpy(&part, at, 8);
        found = (found ^ part) * 0xD6E8FEB86659FD93u;
        found ^= found >> 32;
    }
    part = 0;
    memcpy(&part, at, (size_t)length);
    found = (found ^ part) * 0xD6E8FEB86659FD93u;
    return found ^ (found >> 32);
}

/* The code of each row's value, and the first row of each; 0 where there is no memory. */
static int alike(Scan *scan, Found *found) {
    size_t size = 64;
    while (size < 2 * scan->rows) size *= 2;
    int32_t *slots = malloc(size * sizeof(int32_t)); /* the code of the value there, or -1 */
    uint64_t *hashes = malloc(scan->rows * sizeof(uint64_t));
    found->codes = malloc(scan->rows * sizeof(int32_t));
    found->first = malloc(scan->rows * sizeof(int32_t));
    int right = slots && hashes && found->codes && found->first;
    if (right) memset(slots, -1, size * sizeof(int32_t));
    Bytes last = scan->begin;
    int32_t last_length = 0, *code = found->codes, *first = found->first;
    for (size_t row = 0; right && row < scan->rows; row++) {
        int32_t begin = found->places[2 * row], length = begin < 0 ? 0 : found->places[2 * row + 1];
        Bytes at = begin < 0 ? scan->begin : scan->begin + begin;
        if (row && length == last_length && same(at, last, length)) { /* as of most columns */
            code[row] = code[row - 1];
            continue;
        }
        last = at;
        last_length = length;
        uint64_t hash = mixed(at, length);
        size_t slot = hash & (size - 1);
        for (; slots[slot] >= 0; slot = (slot + 1) & (size - 1)) {
            int32_t other = first[slots[slot]], other_begin = found->places[2 * other];
            int32_t other_length = other_begin < 0 ? 0 : found->places[2 * other + 1];
            if (hashes[slots[slot]] == hash && other_length == length &&
                (!length || same(scan->begin + other_begin, at, length)))
                break;
        }
        if (slots[slot] < 0) {
            slots[slot] = (int32_t)found->values;
            hashes[found->values] = hash;
            first[found->values++] = (int32_t)row;
        }
        code[row] = slots[slot];
    }
    free(slots);
    free(hashes);
    if (!right) scan->is_full = 1;
    return right;
}

/* The columns of all keys; 0 where there is no memory. */
static int columns(Scan *scan, const Keys *keys, int digits) {
    for (int place = 0; place < keys->count; place++) {
        const Key *key = &keys->keys[place];
        Found *found = &scan->found[place];
        if (!found->filled) continue;
        if (scan->rows > found->room && !grow(scan, found, scan->rows)) return 0;
        blank(found, scan->rows);
        int is_number = (key->type == 'w' || key->type == 'd') && numbers(scan, key, found, digits);
        if (scan->is_full || (!is_number && !alike(scan, found))) return 0;
    }
    return 1;
}

/* What of the columns Python has. */

static PyObject *copy_of(const void *from, size_t rows, size_t width) {
    return PyBytes_FromStringAndSize(from, (Py_ssize_t)(rows * width));
}

/* The bytes of each value. */
static PyObject *values_of(const Scan *scan, const Found *found) {
    PyObject *made = PyTuple_New(found->values);
    for (Py_ssize_t value = 0; made && value < found->values; value++) {
        const int32_t *place = &found->places[2 * found->first[value]];
        const char *at = (const char *)scan->begin + (place[0] < 0 ? 0 : place[0]);
        PyObject *one = PyBytes_FromStringAndSize(at, place[0] < 0 ? 0 : place[1]);
        if (!one || PyTuple_SetItem(made, value, one) < 0) Py_CLEAR(made);
    }
    return made;
}

static PyObject *column_of(const Scan *scan, const Found *found) {
    if (!found->filled) return Py_NewRef(Py_None);
    if (found->numbers) return copy_of(found->numbers, scan->rows, sizeof(int64_t));
    PyObject *codes = copy_of(found->codes, scan->rows, sizeof(int32_t));
    PyObject *values = codes ? values_of(scan, found) : NULL;
    return values ? Py_BuildValue("NN", codes, values) : (Py_XDECREF(codes), NULL);
}

static PyObject *tuple_of(const Scan *scan, const Keys *keys) {
    PyObject *made = PyTuple_New(keys->count);
    for (int key = 0; made && key < keys->count; key++) {
        PyObject *one = column_of(scan, &scan->found[key]);
        if (!one || PyTuple_SetItem(made, key, one) < 0) Py_CLEAR(made);
    }
    return made;
}

static void release(Scan *scan, const Keys *keys) {
    for (int key = 0; key < keys->count; key++) {
        Found *found = &scan->found[key];
        free(found->places), free(found->numbers), free(found->codes), free(found->first);
    }
}

static PyObject *scan(PyObject *self, PyObject *given) {
    Py_buffer text, missing;
    PyObject *outer, *inner, *result = NULL;
    const char *types;
    int digits;
    Key args = {0};
    Py_ssize_t args_length, type_count;
    if (!PyArg_ParseTuple(given, "y*O!O!y#y*iy#", &text, &PyTuple_Type, &outer, &PyTuple_Type, &inner, &types, &type_count,
                          &missing, &digits, &args.text, &args_length))
        return NULL;
    Keys keys;
    keys.outer = keys.count = 0;
    memset(keys.heads, -1, sizeof keys.heads);
    args.length = (int)args_length;
    Scan found;
    memset(&found, 0, sizeof found);
    found.begin = found.at = text.buf;
    found.end = found.begin + text.len;
    if (text.len > INT32_MAX || PyTuple_Size(outer) + PyTuple_Size(inner) != type_count ||
        missing.len != type_count * (Py_ssize_t)sizeof(int64_t)) {
        PyErr_SetString(PyExc_ValueError, "text: over 2 GiB, or types or missing are not one for each key");
    } else if (add_keys(&keys, outer, 0, types, missing.buf) && add_keys(&keys, inner, 1, types, missing.buf)) {
        int right;
        Py_BEGIN_ALLOW_THREADS
        right = rows(&found, &keys, &args) && columns(&found, &keys, digits);
        Py_END_ALLOW_THREADS
        PyObject *made = right ? tuple_of(&found, &keys) : NULL;
        if (made)
            result = Py_BuildValue("nNN", (Py_ssize_t)found.rows, PyBool_FromLong((found.high & EACH(128)) != 0), made);
        else if (found.is_full)
            PyErr_NoMemory();
        else if (!right)
            result = Py_NewRef(Py_None);
    }
    release(&found, &keys);
    PyBuffer_Release(&text);
    PyBuffer_Release(&missing);
    return result;
}

static PyObject *renumbered(PyObject *self, PyObject *given) {
    Py_buffer codes;
    Py_ssize_t values;
    if (!PyArg_ParseTuple(given, "y*n", &codes, &values)) return NULL;
    size_t rows = (size_t)codes.len / sizeof(int32_t); /* where there are none, the buffer may begin anywhere */
    int right = values >= 0 && values <= INT32_MAX && (!rows || (size_t)codes.buf % sizeof(int32_t) == 0);
    size_t room = right ? (size_t)values : 0;
    PyObject *of = copy_of(NULL, rows, sizeof(int32_t));
    int32_t *new = malloc((room + 1) * sizeof(int32_t)), *which = malloc((room + 1) * sizeof(int32_t)), count = 0;
    if (!of || !new || !which) {
        Py_CLEAR(of);
        PyErr_NoMemory();
    } else {
        const int32_t *from = codes.buf;
        int32_t *to = (int32_t *)PyBytes_AsString(of);
        memset(new, -1, room * sizeof(int32_t));
        for (size_t row = 0; right && row < rows; row++) {
            int32_t code = from[row];
            if (!(right = code >= 0 && code < values)) break;
            if (new[code] < 0) {
                which[count] = code;
                new[code] = count++;
            }
            to[row] = new[code];
        }
        if (!right) PyErr_SetString(PyExc_ValueError, "codes: one is not below values");
    }
    PyObject *used = of && right ? copy_of(which, (size_t)count, sizeof(int32_t)) : NULL;
    free(new);
    free(which);
    PyBuffer_Release(&codes);
    if (used) return Py_BuildValue("NN", of, used);
    Py_XDECREF(of);
    return NULL;
}

static PyMethodDef methods[] = {
    {"scan", scan, METH_VARARGS, "scan(text, outer, inner, types, missing, digits, args): (rows, has_high, columns), or None."},
    {"renumbered", renumbered, METH_VARARGS, "renumbered(codes, values): (int32 of each row, int32 of each new code)."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_tokens", "Columns of what stands in JSON.", 0, methods};

PyMODINIT_FUNC PyInit__tokens(void) { return PyModuleDef_Init(&module); }
