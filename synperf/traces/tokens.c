/* Where values stand in a run of JSON objects, and what plain ones are: numbers, and texts that are the same.

   scan(text, outer, inner, types, args): of a text of objects with commas between them, where their values are. `outer`
   and `inner` are tuples of keys, of an object and of the object under its key `args`; `types` has a letter for each of
   them: s a string, v a string, null or a number of up to LONGEST letters without an exponent, r anything. Of a key that
   is there twice the last one counts. None where the text is not strictly that: bad JSON, another type, an escape in a
   key, nesting beyond DEEPEST; such a text is for a reader that mends. Else (rows, whether there may be bytes above 127,
   places), where places has for each key None where no object has it, or two int32 for each row: where its value begins
   in the text, -1 where there is none, and how many bytes it has.

   The others take places of one key, and give columns of as many rows:
   whole(text, places, missing): (int64, whether all are plain whole numbers of up to 18 digits or missing)
   scaled(text, places, digits): (int64, whether all are plain decimals, quoted or not): times 10**digits, rounded to
   whole, a half away from zero; what is missing is the least int64.
   alike(text, places): (int32, int32): the number of the value of each row, and the first row of each value; values are
   alike where their bytes are.

   All of them read between the ends of the text alone: places that lie elsewhere are refused. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef const unsigned char *Bytes;

enum { DEEPEST = 64, BUCKETS = 256, MOST_KEYS = 64, DIGITS = 18, LONGEST = 24 };

typedef struct {
    Bytes text;
    int length;
    char type;
    int next; /* with the same hash, or -1 */
} Key;

typedef struct {
    Key keys[MOST_KEYS];
    int heads[2][BUCKETS]; /* of outer and of inner keys */
    int outer, count;
} Keys;

typedef struct {
    int32_t *places;
    size_t filled, room; /* rows */
} Found;

typedef struct {
    Bytes begin, at, end;
    Found found[MOST_KEYS];
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
    if (scan->at < scan->end && (*scan->at == 'e' || *scan->at == 'E')) {
        scan->at++;
        if (scan->at < scan->end && (*scan->at == '+' || *scan->at == '-')) scan->at++;
        if (!digits(scan)) return 0;
    }
    return 1;
}

static int word(Scan *scan, const char *letters, int length) {
    if (scan->end - scan->at < length || memcmp(scan->at, letters, length)) return 0;
    scan->at += length;
    return 1;
}

static int value(Scan *scan, int deep) {
    if (scan->at >= scan->end || deep > DEEPEST) return 0;
    unsigned char letter = *scan->at;
    switch (letter) {
    case '"': return string(scan);
    case 't': return word(scan, "true", 4);
    case 'f': return word(scan, "false", 5);
    case 'n': return word(scan, "null", 4);
    case '{':
    case '[': break;
    default: return (letter == '-' || (letter >= '0' && letter <= '9')) ? number(scan) : 0;
    }
    unsigned char close = letter == '{' ? '}' : ']';
    scan->at++;
    blanks(scan);
    if (scan->at < scan->end && *scan->at == close) return scan->at++, 1;
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
        if (*scan->at == close) return scan->at++, 1;
        if (*scan->at++ != ',') return 0;
        blanks(scan);
    }
}

static int is_of_type(char type, Bytes begin, Bytes end) {
    if (type == 'r' || *begin == '"') return 1;
    if (type != 'v' || *begin == 't' || *begin == 'f' || *begin == '{' || *begin == '[') return 0;
    return end - begin <= LONGEST && !memchr(begin, 'e', (size_t)(end - begin)) && !memchr(begin, 'E', (size_t)(end - begin));
}

/* ---- rows ---- */

static unsigned hash_of(Bytes text, int length) {
    return (unsigned)(text[0] * 7 + text[length - 1] * 31 + text[length / 2] * 3 + length) % BUCKETS;
}

static int find(const Keys *keys, int inner, Bytes text, int length) {
    if (!length) return -1;
    int found = keys->heads[inner][hash_of(text, length)];
    while (found >= 0 && (keys->keys[found].length != length || memcmp(keys->keys[found].text, text, length)))
        found = keys->keys[found].next;
    return found;
}

/* Notes where the value of a key is in this row. */
static int note(Scan *scan, int key, Bytes begin) {
    Found *found = &scan->found[key];
    size_t row = scan->rows;
    if (row >= found->room) {
        size_t room = row + row / 2 + 512;
        int32_t *more = realloc(found->places, room * 2 * sizeof(int32_t));
        if (!more) return scan->is_full = 1, 0;
        found->places = more;
        found->room = room;
    }
    if (row > found->filled) memset(found->places + 2 * found->filled, -1, (row - found->filled) * 2 * sizeof(int32_t));
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

/* The object at this place. */
static int object(Scan *scan, const Keys *keys, int inner, const Key *args) {
    if (scan->at >= scan->end || *scan->at != '{') return 0;
    scan->at++;
    blanks(scan);
    if (scan->at < scan->end && *scan->at == '}') return scan->at++, 1;
    for (;;) {
        Bytes first = scan->at + 1;
        if (scan->at >= scan->end || *scan->at != '"' || string(scan) != 1) return 0;
        int length = (int)(scan->at - first) - 1;
        blanks(scan);
        if (scan->at >= scan->end || *scan->at++ != ':') return 0;
        blanks(scan);
        Bytes begin = scan->at;
        if (begin >= scan->end) return 0;
        if (!inner && length == args->length && !memcmp(first, args->text, length)) {
            forget(scan, keys); /* of an object that is there twice the last one counts */
            if (!object(scan, keys, 1, args)) return 0;
        } else {
            int key = find(keys, inner, first, length);
            if (!value(scan, 0)) return 0;
            if (key >= 0 && !(is_of_type(keys->keys[key].type, begin, scan->at) && note(scan, key, begin))) return 0;
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
static int add_keys(Keys *keys, PyObject *tuple, int inner, const char *types) {
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
        key->next = keys->heads[inner][hash];
        keys->heads[inner][hash] = keys->count++;
        keys->outer += !inner;
    }
    return 1;
}

/* For each key its places of all rows. */
static PyObject *tuple_of(Scan *scan, const Keys *keys) {
    PyObject *made = PyTuple_New(keys->count);
    for (int key = 0; made && key < keys->count; key++) {
        Found *found = &scan->found[key];
        PyObject *one = Py_NewRef(Py_None);
        if (found->places) {
            Py_DECREF(one);
            one = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(scan->rows * 2 * sizeof(int32_t)));
            if (one) {
                char *to = PyBytes_AsString(one);
                memcpy(to, found->places, found->filled * 2 * sizeof(int32_t));
                memset(to + found->filled * 2 * sizeof(int32_t), -1, (scan->rows - found->filled) * 2 * sizeof(int32_t));
            }
        }
        if (!one || PyTuple_SetItem(made, key, one) < 0) {
            Py_DECREF(made);
            made = NULL;
        }
    }
    return made;
}

static PyObject *scan(PyObject *self, PyObject *given) {
    Py_buffer text;
    PyObject *outer, *inner, *result = NULL;
    const char *types;
    Key args = {0};
    Py_ssize_t args_length, type_count;
    if (!PyArg_ParseTuple(given, "y*O!O!y#y#", &text, &PyTuple_Type, &outer, &PyTuple_Type, &inner, &types, &type_count,
                          &args.text, &args_length))
        return NULL;
    Keys keys;
    keys.outer = keys.count = 0;
    memset(keys.heads, -1, sizeof keys.heads);
    args.length = (int)args_length;
    Scan found;
    memset(&found, 0, sizeof found);
    found.begin = found.at = text.buf;
    found.end = found.begin + text.len;
    if (text.len > INT32_MAX || PyTuple_Size(outer) + PyTuple_Size(inner) != type_count) {
        PyErr_SetString(PyExc_ValueError, "text: over 2 GiB, or types are not one for each key");
    } else if (add_keys(&keys, outer, 0, types) && add_keys(&keys, inner, 1, types)) {
        int right;
        Py_BEGIN_ALLOW_THREADS
        right = rows(&found, &keys, &args);
        Py_END_ALLOW_THREADS
        PyObject *places = right ? tuple_of(&found, &keys) : NULL;
        if (places)
            result = Py_BuildValue("nNN", (Py_ssize_t)found.rows, PyBool_FromLong((found.high & EACH(128)) != 0), places);
        else if (found.is_full)
            PyErr_NoMemory();
        else if (!right)
            result = Py_NewRef(Py_None);
    }
    for (int key = 0; key < keys.count; key++) free(found.found[key].places);
    PyBuffer_Release(&text);
    return result;
}

/* ---- columns ---- */

typedef struct {
    Py_buffer text, places;
    const int32_t *place;
    Py_ssize_t rows;
} Column;

static void release(Column *column) {
    PyBuffer_Release(&column->text);
    PyBuffer_Release(&column->places);
}

/* Whether the two buffers of a column are such, with every place within the text. */
static int is_column(Column *column) {
    column->place = column->places.buf;
    column->rows = column->places.len / (Py_ssize_t)(2 * sizeof(int32_t));
    int right = column->places.len % (Py_ssize_t)(2 * sizeof(int32_t)) == 0 && (size_t)column->places.buf % sizeof(int32_t) == 0;
    for (Py_ssize_t row = 0; right && row < column->rows; row++) {
        int64_t begin = column->place[2 * row], length = column->place[2 * row + 1];
        right = begin < 0 || (length >= 0 && begin + length <= column->text.len);
    }
    if (right) return 1;
    release(column);
    PyErr_SetString(PyExc_ValueError, "places: beyond the text, or no two int32 for each row");
    return 0;
}

static PyObject *column_of(Py_ssize_t rows, size_t width) {
    if (rows > PY_SSIZE_T_MAX / (Py_ssize_t)width) return PyErr_NoMemory();
    return PyByteArray_FromStringAndSize(NULL, rows * (Py_ssize_t)width);
}

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

static PyObject *numbers(Column *column, int is_decimal, int digits, long long missing) {
    PyObject *made = column_of(column->rows, sizeof(int64_t));
    if (!made) return release(column), NULL;
    int64_t *to = (int64_t *)PyByteArray_AsString(made);
    Bytes text = column->text.buf;
    int plain = 1;
    for (Py_ssize_t row = 0; plain && row < column->rows; row++) {
        int32_t begin = column->place[2 * row], length = column->place[2 * row + 1];
        to[row] = missing;
        if (begin >= 0)
            plain = is_decimal ? is_scaled(text + begin, text + begin + length, digits, &to[row])
                               : is_whole(text + begin, text + begin + length, &to[row]);
    }
    release(column);
    return Py_BuildValue("NN", made, PyBool_FromLong(plain));
}

static PyObject *whole(PyObject *self, PyObject *given) {
    Column column;
    long long missing;
    if (!PyArg_ParseTuple(given, "y*y*L", &column.text, &column.places, &missing)) return NULL;
    return is_column(&column) ? numbers(&column, 0, 0, missing) : NULL;
}

static PyObject *scaled(PyObject *self, PyObject *given) {
    Column column;
    int digits;
    if (!PyArg_ParseTuple(given, "y*y*i", &column.text, &column.places, &digits)) return NULL;
    return is_column(&column) ? numbers(&column, 1, digits, INT64_MIN) : NULL;
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

/* Numbers of values in `code` and the rows of the first ones in `first`: how many there are, or -1 without memory. */
static Py_ssize_t numbered(const Column *column, int32_t *code, int32_t *first) {
    size_t size = 64;
    while (size < 2 * (size_t)column->rows) size *= 2;
    int32_t *slots = malloc(size * sizeof(int32_t)); /* the number of the value there, or -1 */
    uint64_t *hashes = malloc(((size_t)column->rows + 1) * sizeof(uint64_t));
    Py_ssize_t count = slots && hashes ? 0 : -1;
    Bytes text = column->text.buf, last = text;
    int32_t last_length = 0;
    if (!count) memset(slots, -1, size * sizeof(int32_t));
    for (Py_ssize_t row = 0; count >= 0 && row < column->rows; row++) {
        int32_t begin = column->place[2 * row], length = begin < 0 ? 0 : column->place[2 * row + 1];
        Bytes at = begin < 0 ? text : text + begin;
        if (row && length == last_length && !memcmp(at, last, (size_t)length)) { /* as of most columns */
            code[row] = code[row - 1];
            continue;
        }
        last = at;
        last_length = length;
        uint64_t hash = mixed(at, length);
        size_t slot = hash & (size - 1);
        for (; slots[slot] >= 0; slot = (slot + 1) & (size - 1)) {
            int32_t other = first[slots[slot]], other_begin = column->place[2 * other];
            int32_t other_length = other_begin < 0 ? 0 : column->place[2 * other + 1];
            if (hashes[slots[slot]] == hash && other_length == length &&
                (!length || !memcmp(text + other_begin, at, (size_t)length)))
                break;
        }
        if (slots[slot] < 0) {
            slots[slot] = (int32_t)count;
            hashes[count] = hash;
            first[count++] = (int32_t)row;
        }
        code[row] = slots[slot];
    }
    free(slots);
    free(hashes);
    return count;
}

static PyObject *alike(PyObject *self, PyObject *given) {
    Column column;
    if (!PyArg_ParseTuple(given, "y*y*", &column.text, &column.places)) return NULL;
    if (!is_column(&column)) return NULL;
    PyObject *code = column_of(column.rows, sizeof(int32_t)), *first = column_of(column.rows, sizeof(int32_t));
    Py_ssize_t count = -1;
    if (code && first && column.rows <= INT32_MAX)
        count = numbered(&column, (int32_t *)PyByteArray_AsString(code), (int32_t *)PyByteArray_AsString(first));
    release(&column);
    if (count < 0 || PyByteArray_Resize(first, count * (Py_ssize_t)sizeof(int32_t)) < 0) {
        Py_XDECREF(code);
        Py_XDECREF(first);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    return Py_BuildValue("NN", code, first);
}

static PyMethodDef methods[] = {
    {"scan", scan, METH_VARARGS, "scan(text, outer, inner, types, args): (rows, has_high, places), or None."},
    {"whole", whole, METH_VARARGS, "whole(text, places, missing): (int64, is_plain)."},
    {"scaled", scaled, METH_VARARGS, "scaled(text, places, digits): (int64, is_plain)."},
    {"alike", alike, METH_VARARGS, "alike(text, places): (int32 of each row, int32 of each value)."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_tokens", "Where values of JSON stand.", 0, methods};

PyMODINIT_FUNC PyInit__tokens(void) { return PyModuleDef_Init(&module); }
