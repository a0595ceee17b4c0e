/* What stands in runs of JSON objects, as columns: whole numbers, decimals, and texts of which each is kept once.

   Scanner(outer, inner, types, missing, digits, args): collects the values of some keys. `outer` and `inner` are tuples
   of keys, of an object and of the object under its key `args`; `types` has a letter for each of them: w a whole number,
   d a decimal, s a string, v a string, null or a number of up to LONGEST letters without an exponent, r anything. A
   number may be a string or null too. Of a key that is there twice the last one counts.

   add(text): adds the objects of a list at which a text begins, up to the last one that is followed by a comma or by the
   end of the list: (bytes up to behind that sign, whether it is the end). None, and nothing is added, where the text is
   not strictly that: bad JSON or UTF-8, another type, an escape in a key, half a letter, nesting beyond DEEPEST; such a
   text is for a reader that mends.

   rows: how many objects were added since `taken`.

   taken(): (rows, columns) of all that was added since the last time; columns has for each key one of
     None: no object has it;
     int64 of each row: of a w whose values are all plain whole numbers, up to 18 digits, and that of `missing` (an
       int64 for each key) where there is none; of a d whose values are all plain decimals, quoted or not, times
       10**digits, rounded to whole, a half away from zero, and the least int64 where there is none;
     (int32 of each row, bytes of each value): of all others which value it is, by the order in which values come;
       values are alike where their bytes are, and where there is none it is no bytes. Numbers of texts before the one
       that made them such a column have the bytes that are usual for their value.

   values(key): the bytes of each value of the key at that place so far, where it is such a column; else none.

   renumbered(codes, values): int32 codes below `values` as they come: (int32 of each row, which code each new one is). */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>
#include <stdint.h>
#include <stdio.h>
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

/* Different texts, in the order in which they come. */
typedef struct {
    char *bytes; /* one behind the other */
    size_t *ends; /* of each, in these */
    uint64_t *hashes;
    int32_t *slots; /* the code of the value there, or -1 */
    size_t count, room, size, bytes_room; /* values, and for how many there is room; slots, a power of 2; bytes */
} Values;

enum { NONE, NUMBERS, CODES }; /* kinds of columns */

typedef struct {
    int32_t *places; /* of the text: where each value begins, -1 where there is none, and how many bytes it has */
    size_t filled, room; /* rows of the text */
    int kind;
    int64_t *numbers; /* of all rows, as are the codes */
    int32_t *codes;
    size_t numbers_room, codes_room;
    Values values;
} Found;

typedef struct {
    Bytes text; /* in quotes */
    int length, key;
} Guess;

typedef struct {
    Bytes begin, at, end;
    Found found[MOST_KEYS];
    Guess guesses[2][GUESSES]; /* the keys of the last object, one after the other: the next one mostly has the same */
    size_t rows, before; /* of the text, and of those before it */
    uint64_t high; /* all bytes of the text, or-ed */
    int is_full;   /* there was no memory */
    int is_cut;    /* the text ends within a string */
    Bytes done;    /* behind the last object that counts */
    int is_closed; /* and that is the end of the list */
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

/* The number of four hexadecimal digits; -1 where they are none. */
static int unit_of(Bytes at) {
    int found = 0;
    for (int digit = 0; digit < 4; digit++, at++) {
        int lower = *at | 32;
        if (*at >= '0' && *at <= '9')
            found = 16 * found + (*at - '0');
        else if (lower >= 'a' && lower <= 'f')
            found = 16 * found + (lower - 'a' + 10);
        else
            return -1;
    }
    return found;
}

/* Behind an escape; NULL where it is none, or half a letter, which is mended elsewhere. */
static Bytes escape(Scan *scan, Bytes at) {
    if (scan->end - at < 2) return scan->is_cut = 1, NULL;
    if (at[1] != 'u') return memchr("\"\\/bfnrt", at[1], 8) ? at + 2 : NULL;
    if (scan->end - at < 6) return scan->is_cut = 1, NULL;
    int unit = unit_of(at + 2);
    if (unit < 0 || (unit >= 0xDC00 && unit < 0xE000)) return NULL;
    if (unit < 0xD800 || unit >= 0xE000) return at + 6;
    if (scan->end - at < 12) return scan->is_cut = 1, NULL;
    unit = at[6] == '\\' && at[7] == 'u' ? unit_of(at + 8) : -1;
    return unit >= 0xDC00 && unit < 0xE000 ? at + 12 : NULL;
}

/* 1; 2 where it has escapes. */
static int string(Scan *scan) {
    int found = 1;
    Bytes at = plain(scan, scan->at + 1);
    while (at < scan->end && *at == '\\') {
        if (!(at = escape(scan, at))) return 0;
        at = plain(scan, at);
        found = 2;
    }
    if (at >= scan->end) return scan->is_cut = 1, 0;
    if (*at != '"') return 0;
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
    if (scan->end - scan->at < length) return scan->is_cut = 1, 0;
    if (memcmp(scan->at, letters, length)) return 0;
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

/* Room for that many of them, or more; NULL where there is no memory, and what there was stays. */
static void *roomy(void *now, size_t *room, size_t count, size_t width) {
    if (count <= *room) return now;
    size_t more = count + count / 2 + 512;
    void *made = more > SIZE_MAX / width ? NULL : realloc(now, more * width);
    if (made) *room = more;
    return made;
}

/* Makes room for that many rows of the text. */
static int grow(Scan *scan, Found *found, size_t rows) {
    int32_t *more = roomy(found->places, &found->room, rows, 2 * sizeof(int32_t));
    if (!more) return scan->is_full = 1, 0;
    found->places = more;
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
    if (row >= found->room && !grow(scan, found, row + 1)) return 0;
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

/* 0 where the text is not strictly rows, or there is no memory. The last one may be cut off, and does not count then. */
static int rows(Scan *scan, const Keys *keys, const Key *args) {
    for (;;) {
        blanks(scan);
        if (scan->at == scan->end) return 1;
        if (!object(scan, keys, 0, args)) return !scan->is_full && (scan->is_cut || scan->at >= scan->end);
        blanks(scan);
        if (scan->at == scan->end) return 1; /* of an object within a list there comes a sign more */
        if (*scan->at != ',' && *scan->at != ']') return 0;
        scan->is_closed = *scan->at++ == ']';
        scan->done = scan->at;
        scan->rows++;
        if (scan->is_closed) return 1;
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

/* Whether the values of the text are all plain numbers, which are behind those of the rows before. */
static int numbers(const Scan *scan, const Key *key, Found *found, int digits) {
    int64_t *number = found->numbers + scan->before;
    int64_t none = key->type == 'd' ? INT64_MIN : key->missing;
    for (size_t row = 0; row < scan->rows; row++, number++) {
        int32_t begin = found->places[2 * row];
        Bytes at = scan->begin + begin, end = at + found->places[2 * row + 1];
        if (begin < 0)
            *number = none;
        else if (!(key->type == 'd' ? is_scaled(at, end, digits, number) : is_whole(at, end, number)))
            return 0;
    }
    return 1;
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

/* Where a value begins. */
static size_t begin_of(const Values *values, int32_t code) { return code ? values->ends[code - 1] : 0; }

static int is_value(const Values *values, int32_t code, Bytes at, size_t length) {
    size_t begin = begin_of(values, code);
    return values->ends[code] - begin == length && (!length || same((Bytes)values->bytes + begin, at, (int)length));
}

/* Twice as many slots; 0 where there is no memory. */
static int more_slots(Values *values) {
    size_t size = values->size ? 2 * values->size : 64;
    int32_t *slots = malloc(size * sizeof(int32_t));
    if (!slots) return 0;
    memset(slots, -1, size * sizeof(int32_t));
    for (size_t code = 0; code < values->count; code++) {
        size_t slot = values->hashes[code] & (size - 1);
        while (slots[slot] >= 0) slot = (slot + 1) & (size - 1);
        slots[slot] = (int32_t)code;
    }
    free(values->slots);
    values->slots = slots;
    values->size = size;
    return 1;
}

/* The code of a new value; -1 where there is no memory. */
static int32_t add_value(Values *values, Bytes at, size_t length, uint64_t hash) {
    if (values->count == values->room) {
        size_t room = values->room;
        size_t *ends = roomy(values->ends, &room, room + 1, sizeof(size_t));
        if (!ends) return -1;
        values->ends = ends;
        uint64_t *hashes = realloc(values->hashes, room * sizeof(uint64_t));
        if (!hashes) return -1;
        values->hashes = hashes;
        values->room = room;
    }
    size_t begin = values->count ? values->ends[values->count - 1] : 0;
    char *bytes = roomy(values->bytes, &values->bytes_room, begin + length, 1);
    if (length && !bytes) return -1;
    values->bytes = bytes;
    if (length) memcpy(bytes + begin, at, length);
    values->ends[values->count] = begin + length;
    values->hashes[values->count] = hash;
    return (int32_t)values->count++;
}

/* The code of a value; -1 where there is no memory. */
static int32_t code_of(Values *values, Bytes at, size_t length) {
    if (2 * (values->count + 1) > values->size && !more_slots(values)) return -1;
    uint64_t hash = mixed(at, (int32_t)length);
    size_t slot = hash & (values->size - 1);
    for (int32_t code; (code = values->slots[slot]) >= 0; slot = (slot + 1) & (values->size - 1))
        if (values->hashes[code] == hash && is_value(values, code, at, length)) return code;
    return values->slots[slot] = add_value(values, at, length, hash);
}

/* The codes of rows from `first` on that have no value. */
static int no_codes(Found *found, size_t first, size_t rows) {
    int32_t none = rows ? code_of(&found->values, (Bytes)"", 0) : 0;
    for (size_t row = first; row < first + rows; row++) found->codes[row] = none;
    return none >= 0;
}

/* The codes of the values of the text. */
static int codes(const Scan *scan, Found *found) {
    int32_t *code = found->codes + scan->before, last = -1;
    for (size_t row = 0; row < scan->rows; row++, code++) {
        int32_t begin = found->places[2 * row], length = begin < 0 ? 0 : found->places[2 * row + 1];
        Bytes at = begin < 0 ? scan->begin : scan->begin + begin;
        if (last < 0 || !is_value(&found->values, last, at, (size_t)length)) /* as of most columns */
            last = code_of(&found->values, at, (size_t)length);
        if ((*code = last) < 0) return 0;
    }
    return 1;
}

/* The usual text of a number; that of a decimal has all its digits. */
static int text_of(char *text, size_t room, int64_t number, const Key *key, int digits) {
    if (key->type != 'd') return snprintf(text, room, "%lld", (long long)number);
    uint64_t size = number < 0 ? -(uint64_t)number : (uint64_t)number, unit = 1;
    for (int digit = 0; digit < digits; digit++) unit *= 10;
    const char *sign = number < 0 ? "-" : "";
    if (!digits) return snprintf(text, room, "%s%llu", sign, (unsigned long long)size);
    return snprintf(text, room, "%s%llu.%0*llu", sign, (unsigned long long)(size / unit), digits,
                    (unsigned long long)(size % unit));
}

/* Makes codes of the numbers of the rows before. */
static int coded(const Scan *scan, const Key *key, Found *found, int digits) {
    int64_t none = key->type == 'd' ? INT64_MIN : key->missing;
    for (size_t row = 0; row < scan->before; row++) {
        char text[48];
        int64_t number = found->numbers[row];
        int length = number == none ? 0 : text_of(text, sizeof text, number, key, digits);
        if ((found->codes[row] = code_of(&found->values, (Bytes)text, (size_t)length)) < 0) return 0;
    }
    return 1;
}

/* Adds the values of the text to the column of a key; 0 where there is no memory. */
static int add_column(const Scan *scan, const Key *key, Found *found, int digits) {
    size_t all = scan->before + scan->rows;
    int was = found->kind;
    if (was == NONE && !found->filled) return 1;
    if (was != CODES && (key->type == 'w' || key->type == 'd')) {
        int64_t *more = roomy(found->numbers, &found->numbers_room, all, sizeof(int64_t));
        if (!more) return 0;
        found->numbers = more;
        for (size_t row = 0; was == NONE && row < scan->before; row++)
            more[row] = key->type == 'd' ? INT64_MIN : key->missing;
        found->kind = NUMBERS;
        if (numbers(scan, key, found, digits)) return 1;
    }
    int32_t *more = roomy(found->codes, &found->codes_room, all, sizeof(int32_t));
    if (!more) return 0;
    found->codes = more;
    found->kind = CODES;
    if (was == NUMBERS && !coded(scan, key, found, digits)) return 0;
    if (was == NONE && !no_codes(found, 0, scan->before)) return 0;
    return codes(scan, found);
}

/* Adds the values of the text to all columns; 0 where there is no memory. */
static int add_columns(Scan *scan, const Keys *keys, int digits) {
    for (int place = 0; place < keys->count; place++) {
        Found *found = &scan->found[place];
        if (found->filled > scan->rows) found->filled = scan->rows; /* without an object that is cut off */
        while (found->filled && found->places[2 * (found->filled - 1)] < 0) found->filled--;
        if (found->kind != NONE || found->filled) {
            if (!grow(scan, found, scan->rows)) return 0;
            blank(found, scan->rows);
        }
        if (!add_column(scan, &keys->keys[place], found, digits)) return scan->is_full = 1, 0;
    }
    scan->before += scan->rows;
    return 1;
}

/* Forgets all rows, and keeps the room that they had. */
static void empty(Scan *scan, const Keys *keys) {
    for (int place = 0; place < keys->count; place++) {
        Values *values = &scan->found[place].values;
        scan->found[place].kind = NONE;
        if (values->count) memset(values->slots, -1, values->size * sizeof(int32_t));
        values->count = 0;
    }
    scan->before = 0;
}

/* ---- what of it Python has ---- */

typedef struct {
    PyObject_HEAD
    Scan scan;
    Keys keys;
    Key args;
    int digits;
    PyObject *kept[3]; /* outer, inner and args, whose bytes the keys are */
    Py_ssize_t rows;
    int is_busy; /* in another thread */
} Scanner;

static PyObject *copy_of(const void *from, size_t rows, size_t width) {
    return PyBytes_FromStringAndSize(from, (Py_ssize_t)(rows * width));
}

/* The bytes of each value. */
static PyObject *values_of(const Values *values) {
    PyObject *made = PyTuple_New((Py_ssize_t)values->count);
    for (int32_t code = 0; made && code < (int32_t)values->count; code++) {
        size_t begin = begin_of(values, code), length = values->ends[code] - begin;
        PyObject *one = copy_of(length ? values->bytes + begin : "", length, 1);
        if (!one || PyTuple_SetItem(made, code, one) < 0) Py_CLEAR(made);
    }
    return made;
}

static PyObject *column_of(const Found *found, size_t rows) {
    if (found->kind == NONE) return Py_NewRef(Py_None);
    if (found->kind == NUMBERS) return copy_of(found->numbers, rows, sizeof(int64_t));
    PyObject *codes = copy_of(found->codes, rows, sizeof(int32_t));
    PyObject *values = codes ? values_of(&found->values) : NULL;
    return values ? Py_BuildValue("NN", codes, values) : (Py_XDECREF(codes), NULL);
}

/* Whether no other thread is in it; else an error is set. */
static int is_free(Scanner *self) {
    if (self->is_busy) PyErr_SetString(PyExc_RuntimeError, "scanner: another thread uses it");
    return !self->is_busy;
}

static PyObject *taken(Scanner *self, PyObject *none) {
    if (!is_free(self)) return NULL;
    PyObject *made = PyTuple_New(self->keys.count);
    for (int key = 0; made && key < self->keys.count; key++) {
        PyObject *one = column_of(&self->scan.found[key], self->scan.before);
        if (!one || PyTuple_SetItem(made, key, one) < 0) Py_CLEAR(made);
    }
    if (!made) return NULL;
    Py_ssize_t rows = self->rows;
    empty(&self->scan, &self->keys);
    self->rows = 0;
    return Py_BuildValue("nN", rows, made);
}

static PyObject *values(Scanner *self, PyObject *given) {
    Py_ssize_t key = PyLong_AsSsize_t(given);
    if (PyErr_Occurred() || !is_free(self)) return NULL;
    if (key < 0 || key >= self->keys.count) return PyErr_SetString(PyExc_IndexError, "key: there is none"), NULL;
    const Found *found = &self->scan.found[key];
    return found->kind == CODES ? values_of(&found->values) : PyTuple_New(0);
}

static int is_text(const Scan *scan) {
    if (!(scan->high & EACH(128))) return 1;
    PyObject *text = PyUnicode_DecodeUTF8((const char *)scan->begin, scan->done - scan->begin, NULL);
    if (!text) PyErr_Clear();
    Py_XDECREF(text);
    return text != NULL;
}

static PyObject *add(Scanner *self, PyObject *given) {
    Py_buffer text;
    Scan *scan = &self->scan;
    if (!is_free(self) || PyObject_GetBuffer(given, &text, PyBUF_SIMPLE) < 0) return NULL;
    if (text.len > INT32_MAX || self->rows > INT32_MAX - text.len) {
        PyBuffer_Release(&text);
        return PyErr_SetString(PyExc_ValueError, "text: 2 GiB or more since it was taken"), NULL;
    }
    scan->begin = scan->at = scan->done = text.buf;
    scan->end = scan->begin + text.len;
    scan->rows = 0;
    scan->high = 0;
    scan->is_full = scan->is_cut = scan->is_closed = 0;
    memset(scan->guesses, 0, sizeof scan->guesses); /* they are in the text before */
    for (int key = 0; key < self->keys.count; key++) scan->found[key].filled = 0;
    int right;
    self->is_busy = 1;
    Py_BEGIN_ALLOW_THREADS
    right = rows(scan, &self->keys, &self->args);
    Py_END_ALLOW_THREADS
    if (right && (right = is_text(scan)) && scan->rows) {
        Py_BEGIN_ALLOW_THREADS
        right = add_columns(scan, &self->keys, self->digits);
        Py_END_ALLOW_THREADS
    }
    self->is_busy = 0;
    PyBuffer_Release(&text);
    if (scan->is_full) empty(scan, &self->keys);
    self->rows = (Py_ssize_t)scan->before;
    if (scan->is_full) return PyErr_NoMemory();
    return right ? Py_BuildValue("nN", (Py_ssize_t)(scan->done - scan->begin), PyBool_FromLong(scan->is_closed))
                 : Py_NewRef(Py_None);
}

static PyObject *made(PyTypeObject *type, PyObject *given, PyObject *named) {
    PyObject *outer, *inner, *args;
    Py_buffer missing;
    const char *types;
    int digits;
    Py_ssize_t count;
    if (!PyArg_ParseTuple(given, "O!O!y#y*iS", &PyTuple_Type, &outer, &PyTuple_Type, &inner, &types, &count, &missing,
                          &digits, &args))
        return NULL;
    Scanner *self = (Scanner *)PyType_GenericAlloc(type, 0);
    int right = self != NULL;
    if (right) {
        PyObject *kept[] = {outer, inner, args};
        for (int place = 0; place < 3; place++) self->kept[place] = Py_NewRef(kept[place]);
        memset(self->keys.heads, -1, sizeof self->keys.heads);
        self->digits = digits;
        self->args.text = (Bytes)PyBytes_AsString(args);
        self->args.length = (int)PyBytes_Size(args);
        right = 0;
        if (PyTuple_Size(outer) + PyTuple_Size(inner) != count || missing.len != count * (Py_ssize_t)sizeof(int64_t))
            PyErr_SetString(PyExc_ValueError, "types or missing: they are not one for each key");
        else if (digits < 0 || digits > DIGITS)
            PyErr_SetString(PyExc_ValueError, "digits: beyond 0..18");
        else
            right = add_keys(&self->keys, outer, 0, types, missing.buf) &&
                    add_keys(&self->keys, inner, 1, types, missing.buf);
    }
    PyBuffer_Release(&missing);
    if (!right) Py_CLEAR(self);
    return (PyObject *)self;
}

static void forgotten(Scanner *self) {
    for (int key = 0; key < self->keys.count; key++) {
        Found *found = &self->scan.found[key];
        Values *of = &found->values;
        free(found->places), free(found->numbers), free(found->codes);
        free(of->bytes), free(of->ends), free(of->hashes), free(of->slots);
    }
    for (int place = 0; place < 3; place++) Py_XDECREF(self->kept[place]);
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    freefunc freed = (freefunc)PyType_GetSlot(type, Py_tp_free);
    freed(self);
    Py_DECREF(type);
}

static PyMethodDef scanner_methods[] = {
    {"add", (PyCFunction)add, METH_O, "add(text): (bytes of objects that are added, whether their list is closed), or None."},
    {"taken", (PyCFunction)taken, METH_NOARGS, "taken(): (rows, columns) of all since the last time."},
    {"values", (PyCFunction)values, METH_O, "values(key): the bytes of each value so far."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef scanner_members[] = {
    {"rows", T_PYSSIZET, offsetof(Scanner, rows), READONLY, "Objects since the last time."},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot scanner_slots[] = {
    {Py_tp_new, made},
    {Py_tp_dealloc, forgotten},
    {Py_tp_methods, scanner_methods},
    {Py_tp_members, scanner_members},
    {Py_tp_doc, "Scanner(outer, inner, types, missing, digits, args): collects the values of keys."},
    {0, NULL},
};

static PyType_Spec scanner = {"synperf.traces._tokens.Scanner", sizeof(Scanner), 0, Py_TPFLAGS_DEFAULT, scanner_slots};

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
    {"renumbered", renumbered, METH_VARARGS, "renumbered(codes, values): (int32 of each row, int32 of each new code)."},
    {NULL, NULL, 0, NULL},
};

static int fill(PyObject *module) {
    PyObject *type = PyType_FromModuleAndSpec(module, &scanner, NULL);
    int right = type && PyModule_AddType(module, (PyTypeObject *)type) == 0;
    Py_XDECREF(type);
    return right ? 0 : -1;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, fill}, {0, NULL}};

static struct PyModuleDef module = {
    .m_base = PyModuleDef_HEAD_INIT, .m_name = "_tokens", .m_doc = "Columns of what stands in JSON.",
    .m_methods = methods, .m_slots = slots,
};

PyMODINIT_FUNC PyInit__tokens(void) { return PyModuleDef_Init(&module); }
