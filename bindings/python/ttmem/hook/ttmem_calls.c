/* SPDX-License-Identifier: Apache-2.0 */
/* Brief calls from the side of Python, for ttmem_brief.py: an operation that was called with arguments of the same kinds from the same place before.
 * What the recorder found out about that call is looked up here, because looking it up in Python takes longer than the operation.
 *
 * Everything that is not known yet is the recorder's: `begin` says no, the recorder does the call, and tells what it found (ttmem_calls_remember).
 * Python's lock is held in all functions; what they share needs no other. */
#define _GNU_SOURCE /* clock_gettime */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "ttmem_native.h"
#include "ttmem_python.h"
#include "ttmem_words.h"

enum { MOST_ENTRIES = 100000, MOST_CALLS = 100000, DEEPEST = 8, TENSORS = 1 << 14, KIND_WORDS = 4 };

/* ---- What is known ---------------------------------------------------------------------------------------------------- */

typedef struct line { /* of an operation, but for its id */
  char *at;
  size_t n;
  int named; /* its results have names of their own */
} line;

static map keys;    /* arguments -> key */
static map sites;   /* code objects and instructions, outwards -> number of the site */
static map lines;   /* site, key -> where in all_lines, from 1 */
static map ways;    /* type -> how the kind of such an argument is found */
static map objects; /* configuration -> number of its kind */
static map paths;   /* key of brief calls -> path */
static line *all_lines;
static size_t line_count;
static struct tensor {
  uint64_t id; /* 0: none */
  uint64_t kind[KIND_WORDS];
} tensors[TENSORS]; /* by id, which ttnn gives to one tensor only */

static struct {
  PyObject *tensor;      /* the type */
  PyObject *way_of;      /* value -> one of the ways */
  PyObject *number_of;   /* configuration -> number of its kind; 0: it may change */
  PyObject *put;         /* text */
  PyObject *view;        /* lane */
  PyObject *returned;    /* lane, operation, site, result */
  PyObject *went_astray; /* lane, key */
} recorder;
static struct {
  PyObject *tensor_id, *shape, *dtype, *layout, *memory_config, *buffer_address, *device, *id, *f_lasti, *name, *depth,
      *zero, *one;
} names;

enum { UNKNOWN_WAY = 1, BY_IDENTITY, BY_HASH, BY_ID, BY_CONFIGURATION, BY_TEXT };

static uint64_t operations;            /* begun, in all threads */
static uint64_t era;                   /* what is brief in one has to be asked for in the next */
EXPORTED double ttmem_calls_next_view; /* seconds of the monotonic clock: when the allocator is asked again */
EXPORTED uint64_t ttmem_calls_tail[2]; /* bytes that wait in the tail of the file; 1: they are being written */
static char *tail;
static size_t tail_room;

static __thread struct {
  PyObject *lane; /* of the recorder */
  uint64_t lane_number;
  uint64_t era;
  int is_quiet; /* nothing but brief calls since the last one */
  int is_told;  /* the rows below are those of the call about to be made */
  uint32_t calls;
  words arguments, inputs, site;
  uint64_t operation, key, place; /* of the running call; operation 0: none runs */
  text pending;
} here;

/* ---- Arguments -------------------------------------------------------------------------------------------------------- */

static int read_value(PyObject *value, int depth);

/* Takes the reference. 0: Python raised something, which is forgotten. */
static int keep_identity(PyObject *o, uint64_t *out) {
  *out = (uintptr_t)o;
  if (!o) return 0;
  Py_DecRef(o); /* enumerations have one object for each value */
  return 1;
}

static int keep_hash(PyObject *o, uint64_t *out) {
  if (!o) return 0;
  ssize_t hash = PyObject_Hash(o);
  Py_DecRef(o);
  *out = (uint64_t)hash;
  return hash != -1;
}

static int keep_number(PyObject *o, uint64_t *out) {
  if (!o) return 0;
  *out = PyLong_AsUnsignedLong(o);
  Py_DecRef(o);
  return *out != (uint64_t)-1;
}

static int read_shape(PyObject *tensor, uint64_t *out) {
  PyObject *shape = PyObject_GetAttr(tensor, names.shape), *said = shape ? PyObject_Str(shape) : NULL;
  if (shape) Py_DecRef(shape);
  return keep_hash(said, out);
}

static int read_kind(PyObject *tensor, uint64_t kind[KIND_WORDS]) {
  return read_shape(tensor, &kind[0]) && keep_identity(PyObject_GetAttr(tensor, names.dtype), &kind[1]) &&
         keep_identity(PyObject_GetAttr(tensor, names.layout), &kind[2]) &&
         keep_hash(PyObject_CallMethodObjArgs(tensor, names.memory_config, NULL), &kind[3]);
}

/* ttnn complains aloud when it is asked for the address of one on the host. */
static int is_on_device(PyObject *tensor) {
  uint64_t device;
  if (!keep_identity(PyObject_CallMethodObjArgs(tensor, names.device, NULL), &device)) PyErr_Clear();
  return device && device != (uintptr_t)&_Py_NoneStruct;
}

static int read_tensor(PyObject *value) {
  uint64_t id, address;
  if (!keep_number(PyObject_GetAttr(value, names.tensor_id), &id)) return 0;
  struct tensor *t = &tensors[id % TENSORS];
  if (t->id != id || !id) {
    t->id = 0;
    if (!read_kind(value, t->kind)) return 0;
    t->id = id;
  }
  for (int i = 0; i < KIND_WORDS; i++) ttmem_add(&here.arguments, t->kind[i]);
  if (!is_on_device(value)) return 1;
  if (keep_number(PyObject_CallMethodObjArgs(value, names.buffer_address, NULL), &address)) {
    ttmem_add(&here.inputs, address);
  } else {
    PyErr_Clear();
  }
  return 1;
}

static int read_members(PyObject *value, ssize_t n, PyObject *(*member)(PyObject *, ssize_t), int depth) {
  ttmem_add(&here.arguments, (uint64_t)n);
  for (ssize_t i = 0; i < n; i++)
    if (!read_value(member(value, i), depth)) return 0;
  return 1;
}

static int read_dict(PyObject *value, int depth) {
  PyObject *key, *member;
  ssize_t at = 0;
  ttmem_add(&here.arguments, (uint64_t)PyDict_Size(value));
  while (PyDict_Next(value, &at, &key, &member))
    if (key->type != &PyUnicode_Type || !read_value(key, depth) || !read_value(member, depth)) return 0;
  return 1;
}

static uint64_t way_of(PyObject *value) {
  uint64_t type = (uintptr_t)value->type, way = ttmem_look_up(&ways, &type, 1);
  if (way || !keep_number(PyObject_CallFunctionObjArgs(recorder.way_of, value, NULL), &way)) return way;
  ttmem_set(&ways, &type, 1, way);
  return way;
}

static int read_configuration(PyObject *value, uint64_t *out) {
  uint64_t at = (uintptr_t)value;
  if ((*out = ttmem_look_up(&objects, &at, 1)) != 0) return 1;
  if (!keep_number(PyObject_CallFunctionObjArgs(recorder.number_of, value, NULL), out) || !*out) return 0;
  ttmem_set(&objects, &at, 1, *out);
  return 1;
}

static int read_other(PyObject *value) {
  uint64_t word = (uintptr_t)value;
  ssize_t hash;
  switch (way_of(value)) {
    case BY_IDENTITY:
      break;
    case BY_HASH:
      if ((hash = PyObject_Hash(value)) == -1) return 0;
      word = (uint64_t)hash;
      break;
    case BY_ID:
      if (!keep_number(PyObject_CallMethodObjArgs(value, names.id, NULL), &word)) return 0;
      break;
    case BY_CONFIGURATION:
      if (!read_configuration(value, &word)) return 0;
      break;
    case BY_TEXT:
      if (!keep_hash(PyObject_Repr(value), &word)) return 0;
      break;
    default:
      return 0;
  }
  ttmem_add(&here.arguments, word);
  return 1;
}

static int read_float(PyObject *value) {
  double number = PyFloat_AsDouble(value);
  uint64_t word;
  memcpy(&word, &number, sizeof word);
  ttmem_add(&here.arguments, word);
  return 1;
}

static int read_integer(PyObject *value) {
  long number = PyLong_AsLong(value);
  ttmem_add(&here.arguments, (uint64_t)number);
  return number != -1 || !PyErr_Occurred();
}

/* Adds what decides about an argument, so that no two rows can be taken for each other. */
static int read_value(PyObject *value, int depth) {
  PyObject *type = value->type;
  if (depth > DEEPEST) return 0;
  if (value == &_Py_NoneStruct || value == &_Py_TrueStruct || value == &_Py_FalseStruct) {
    ttmem_add(&here.arguments, (uintptr_t)value);
    return 1;
  }
  ttmem_add(&here.arguments, (uintptr_t)type);
  if (type == recorder.tensor) return read_tensor(value);
  if (type == &PyUnicode_Type) {
    ttmem_add(&here.arguments, (uint64_t)PyObject_Hash(value));
    return 1;
  }
  if (type == &PyLong_Type) return read_integer(value);
  if (type == &PyFloat_Type) return read_float(value);
  if (type == &PyTuple_Type) return read_members(value, PyTuple_Size(value), PyTuple_GetItem, depth + 1);
  if (type == &PyList_Type) return read_members(value, PyList_Size(value), PyList_GetItem, depth + 1);
  return type == &PyDict_Type ? read_dict(value, depth + 1) : read_other(value);
}

/* Which of the inputs lie in the same place. */
static void add_aliases(void) {
  for (size_t i = 1; i < here.inputs.n; i++)
    for (size_t k = 0; k < i; k++)
      if (here.inputs.at[k] == here.inputs.at[i]) ttmem_add(&here.arguments, i << 32 | k);
}

static int read_call(PyObject *operation, PyObject *arguments, PyObject *by_name) {
  uint64_t name;
  here.arguments.n = here.inputs.n = 0;
  if (!keep_hash(PyObject_GetAttr(operation, names.name), &name)) return 0;
  ttmem_add(&here.arguments, name);
  if (!read_value(arguments, 0) || !read_value(by_name, 0)) return 0;
  ttmem_add(&here.arguments, ttmem_native_l1[0]);
  ttmem_add(&here.arguments, ttmem_native_l1[1]);
  add_aliases();
  return 1;
}

/* ---- The place of the call -------------------------------------------------------------------------------------------- */

static uint64_t instruction_of(PyObject *frame) {
  uint64_t at = 0;
  if (PyFrame_GetLasti) return (uint64_t)PyFrame_GetLasti(frame);
  if (!keep_number(PyObject_GetAttr(frame, names.f_lasti), &at)) PyErr_Clear();
  return at;
}

static void read_site(void) {
  PyObject *frame = PyFrame_GetBack(PyEval_GetFrame()); /* of who called the wrapper */
  here.site.n = 0;
  while (frame) {
    PyObject *code = PyFrame_GetCode(frame), *outer = PyFrame_GetBack(frame);
    ttmem_add(&here.site, (uintptr_t)code);
    ttmem_add(&here.site, instruction_of(frame));
    Py_DecRef(code);
    Py_DecRef(frame);
    frame = outer;
  }
}

/* ---- The recording ---------------------------------------------------------------------------------------------------- */

#define PUT(t, words) ttmem_put((t), (words), sizeof(words) - 1)

static void put_freed(void) {
  text *freed = ttmem_native_freed();
  if (!freed->n) return;
  PUT(&here.pending, ",\n{\"node_type\":\"freed\",\"params\":{\"lane\":");
  ttmem_put_number(&here.pending, here.lane_number);
  PUT(&here.pending, "},\"connections\":[");
  ttmem_put(&here.pending, freed->at + 1, freed->n - 1);
  PUT(&here.pending, "]}");
  freed->n = 0;
}

static void put_again(void) {
  const text *addresses = ttmem_native_addresses();
  PUT(&here.pending, ",\n{\"node_type\":\"again\",\"params\":{\"key\":");
  ttmem_put_number(&here.pending, here.key);
  PUT(&here.pending, ",\"lane\":");
  ttmem_put_number(&here.pending, here.lane_number);
  PUT(&here.pending, "},\"connections\":[");
  for (size_t i = 0; i < here.inputs.n; i++) {
    if (i) PUT(&here.pending, ",");
    ttmem_put_number(&here.pending, here.inputs.at[i]);
  }
  size_t skipped = !here.inputs.n && addresses->n ? 1 : 0; /* its comma */
  if (addresses->n) ttmem_put(&here.pending, addresses->at + skipped, addresses->n - skipped);
  PUT(&here.pending, "]}");
}

static void put_operation(const line *l) {
  PUT(&here.pending, ",\n{\"node_type\":\"operation\",\"params\":{\"id\":");
  ttmem_put_number(&here.pending, here.operation);
  PUT(&here.pending, ",\"lane\":");
  ttmem_put_number(&here.pending, here.lane_number);
  PUT(&here.pending, ",");
  ttmem_put(&here.pending, l->at, l->n);
  PUT(&here.pending, "}}");
}

static void forget_result(PyObject *result) {
  if (result)
    Py_DecRef(result);
  else
    PyErr_Clear();
}

/* Into the tail of the file: memory that is there whatever happens to the process. */
static void write_pending(void) {
  if (tail && !ttmem_calls_tail[1] && ttmem_calls_tail[0] + here.pending.n < tail_room) {
    memcpy(tail + ttmem_calls_tail[0], here.pending.at, here.pending.n);
    ttmem_calls_tail[0] += here.pending.n;
    here.pending.n = 0;
  } else { /* the recorder takes what is pending with it */
    forget_result(PyObject_CallFunctionObjArgs(recorder.put, here.lane, NULL));
  }
}

/* What is known of brief calls of this thread, and of the time since, and is not in the file yet. */
EXPORTED const char *ttmem_calls_pending(void) {
  put_freed();
  if (!here.pending.n) return "";
  here.pending.n = 0;
  return here.pending.at;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------------ */

static PyObject *answer(int yes) {
  PyObject *said = yes ? &_Py_TrueStruct : &_Py_FalseStruct;
  Py_IncRef(said);
  return said;
}

static void starts(void) {
  PyObject_SetAttr(here.lane, names.depth, names.one);
  here.calls++;
  ttmem_native_begin(1);
}

/* operation, arguments, keyword arguments -> True: it is recorded until `end`. */
static PyObject *begin(PyObject *self, PyObject *const *given, ssize_t n) {
  (void)self, (void)n;
  here.is_told = 0;
  if (!here.is_quiet || here.era != era || here.operation || here.calls >= MOST_CALLS) return answer(0);
  if (!read_call(given[0], given[1], given[2])) {
    PyErr_Clear();
    return answer(0);
  }
  read_site();
  here.is_told = 1;
  uint64_t place[] = {ttmem_look_up(&sites, here.site.at, here.site.n),
                      ttmem_look_up(&keys, here.arguments.at, here.arguments.n)};
  uint64_t at = place[0] && place[1] ? ttmem_look_up(&lines, place, 2) : 0;
  if (!at || ttmem_look_up(&paths, &place[1], 1) <= NEVER || ttmem_native_is_astray()) return answer(0);
  here.operation = ++operations;
  here.place = place[0];
  here.key = place[1];
  put_freed();
  put_operation(&all_lines[at - 1]);
  write_pending();
  starts();
  return answer(1);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The running call is over. */
EXPORTED void ttmem_calls_finish(void) {
  uint64_t path = ttmem_native_end();
  here.operation = 0;
  PyObject_SetAttr(here.lane, names.depth, names.zero);
  if (path == ttmem_look_up(&paths, &here.key, 1)) {
    put_again();
  } else {
    PyObject *key = PyLong_FromLong((long)here.key);
    forget_result(PyObject_CallFunctionObjArgs(recorder.went_astray, here.lane, key, NULL));
    Py_DecRef(key);
  }
  if (seconds() > ttmem_calls_next_view) forget_result(PyObject_CallFunctionObjArgs(recorder.view, here.lane, NULL));
}

static void tell_results(PyObject *result) {
  uint64_t place[] = {here.place, here.key}, at = ttmem_look_up(&lines, place, 2);
  if (!at || !all_lines[at - 1].named) return;
  PyObject *operation = PyLong_FromLong((long)here.operation), *site = PyLong_FromLong((long)here.place);
  forget_result(PyObject_CallFunctionObjArgs(recorder.returned, here.lane, operation, site, result, NULL));
  Py_DecRef(operation);
  Py_DecRef(site);
}

static PyObject *end(PyObject *self, PyObject *const *given, ssize_t n) {
  (void)self, (void)n;
  if (here.operation) { /* else the program forked meanwhile */
    if (given[0]->type == &PyTuple_Type || given[0]->type == &PyList_Type) tell_results(given[0]);
    ttmem_calls_finish();
  }
  return answer(1);
}

/* As functions of Python. */
EXPORTED PyObject *ttmem_calls_begin_call(void) {
  static PyMethodDef method = {"begin", begin, METH_FASTCALL, NULL};
  return PyCFunction_NewEx(&method, NULL, NULL);
}

EXPORTED PyObject *ttmem_calls_end_call(void) {
  static PyMethodDef method = {"end", end, METH_FASTCALL, NULL};
  return PyCFunction_NewEx(&method, NULL, NULL);
}

/* ---- What the recorder says ------------------------------------------------------------------------------------------- */

/* The number of the operation that runs, 0: none. */
EXPORTED uint64_t ttmem_calls_running(void) { return here.operation; }
EXPORTED uint64_t ttmem_calls_next(void) { return ++operations; }
EXPORTED uint64_t ttmem_calls_operations(void) { return operations; }

/* Calls with this key are brief, when they go this way; or not any more. */
EXPORTED void ttmem_calls_learn(uint64_t key, uint64_t path) { ttmem_set(&paths, &key, 1, path); }
EXPORTED void ttmem_calls_unlearn(uint64_t key) { ttmem_set(&paths, &key, 1, NEVER); }

/* What the recorder found for the call that `begin` did not know: its key, its place and its line. */
EXPORTED void ttmem_calls_remember(uint64_t key, uint64_t site, const char *said, int named) {
  uint64_t place[] = {site, key};
  if (!here.is_told || line_count >= MOST_ENTRIES) return;
  ttmem_set(&keys, here.arguments.at, here.arguments.n, key);
  ttmem_set(&sites, here.site.at, here.site.n, site);
  if (ttmem_look_up(&lines, place, 2)) return;
  if (!(line_count & (line_count - 1)))
    all_lines = ttmem_grown(all_lines, (line_count ? line_count * 2 : 1) * sizeof *all_lines);
  size_t n = strlen(said);
  all_lines[line_count] = (line){memcpy(ttmem_grown(NULL, n + 1), said, n), n, named};
  ttmem_set(&lines, place, 2, ++line_count);
}

/* A brief call that the recorder wrote down begins. Those that follow may be begun here. 1: something has to be captured before, and nothing was begun. */
EXPORTED int ttmem_calls_start(PyObject *lane, uint64_t lane_number, uint64_t operation, uint64_t key,
                               PyObject *inputs) {
  if (ttmem_native_is_astray()) return 1;
  here.lane = lane;
  here.lane_number = lane_number;
  here.operation = operation;
  here.key = key;
  here.era = era;
  here.is_quiet = 1;
  here.inputs.n = 0;
  for (ssize_t i = 0; i < PyList_Size(inputs); i++)
    ttmem_add(&here.inputs, PyLong_AsUnsignedLong(PyList_GetItem(inputs, i)));
  starts();
  return 0;
}

/* The recorder does something else in this thread. */
EXPORTED void ttmem_calls_interrupt(void) { here.is_quiet = 0; }
EXPORTED void ttmem_calls_interrupt_all(void) { era++; }

/* A capture was begun. */
EXPORTED void ttmem_calls_restart(void) {
  here.calls = 0;
  here.is_quiet = 0;
}
EXPORTED uint32_t ttmem_calls_made(void) { return here.calls; }

/* A configuration changed. */
EXPORTED void ttmem_calls_changed(void) { ttmem_clear(&objects); }

/* The tail of the file, from here on. */
EXPORTED int ttmem_calls_use_tail(int fd, size_t room) {
  char *at = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return 0;
  tail = at;
  tail_room = room;
  return 1;
}

/* In a forked process, and at the end: nothing is known, and nothing belongs to this process. */
EXPORTED void ttmem_calls_forget_calls(void) {
  map *all[] = {&keys, &sites, &lines, &ways, &objects, &paths};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) ttmem_clear(all[i]);
  for (size_t i = 0; i < line_count; i++) free(all_lines[i].at);
  free(all_lines);
  all_lines = NULL;
  memset(tensors, 0, sizeof tensors);
  if (tail) munmap(tail, tail_room);
  tail = NULL;
  line_count = tail_room = here.pending.n = 0;
  operations = here.operation = here.calls = 0;
  here.is_quiet = here.is_told = 0;
  ttmem_calls_tail[0] = ttmem_calls_tail[1] = 0;
  era++;
}

static void hold(PyObject **place, PyObject *o) {
  if (o) Py_IncRef(o);
  if (*place) Py_DecRef(*place);
  *place = o;
}

/* What the recorder has for these calls. NULL: it has ended. */
EXPORTED void ttmem_calls_connect(PyObject *tensor, PyObject *way_of_type, PyObject *number_of, PyObject *put,
                                  PyObject *view, PyObject *returned, PyObject *went_astray) {
  hold(&recorder.tensor, tensor);
  hold(&recorder.way_of, way_of_type);
  hold(&recorder.number_of, number_of);
  hold(&recorder.put, put);
  hold(&recorder.view, view);
  hold(&recorder.returned, returned);
  hold(&recorder.went_astray, went_astray);
}

EXPORTED void ttmem_calls_set_up(void) {
  const struct {
    PyObject **place;
    const char *name;
  } all[] = {{&names.tensor_id, "tensor_id"},
             {&names.shape, "shape"},
             {&names.dtype, "dtype"},
             {&names.layout, "layout"},
             {&names.memory_config, "memory_config"},
             {&names.buffer_address, "buffer_address"},
             {&names.device, "device"},
             {&names.id, "id"},
             {&names.f_lasti, "f_lasti"},
             {&names.name, "python_fully_qualified_name"},
             {&names.depth, "depth"}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) *all[i].place = PyUnicode_InternFromString(all[i].name);
  names.zero = PyLong_FromLong(0);
  names.one = PyLong_FromLong(1);
}
