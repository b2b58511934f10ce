/* SPDX-License-Identifier: Apache-2.0 */
/* What ttmem_calls.c uses of Python, by its stable ABI. The Python is the user's: its headers are not there when ttmem is built, and its functions are
 * found when the library is loaded. */
#ifndef TTMEM_PYTHON_H
#define TTMEM_PYTHON_H

#include <stddef.h>
#include <sys/types.h>

typedef struct python_object {
  ssize_t references;
  struct python_object *type;
} PyObject;
typedef PyObject *(*PyFunction)(PyObject *self, PyObject *const *arguments, ssize_t n);
typedef struct PyMethodDef {
  const char *name;
  PyFunction function;
  int flags;
  const char *doc;
} PyMethodDef;
enum { METH_FASTCALL = 0x80 };

extern PyObject _Py_NoneStruct, _Py_TrueStruct, _Py_FalseStruct;
extern PyObject PyLong_Type, PyFloat_Type, PyUnicode_Type, PyTuple_Type, PyList_Type, PyDict_Type; /* their heads */

void Py_IncRef(PyObject *o);
void Py_DecRef(PyObject *o);
void PyErr_Clear(void);
PyObject *PyErr_Occurred(void);
PyObject *PyCFunction_NewEx(PyMethodDef *method, PyObject *self, PyObject *module);
PyObject *PyUnicode_InternFromString(const char *text);
PyObject *PyObject_GetAttr(PyObject *o, PyObject *name);
int PyObject_SetAttr(PyObject *o, PyObject *name, PyObject *value);
PyObject *PyObject_CallFunctionObjArgs(PyObject *function, ...);
PyObject *PyObject_CallMethodObjArgs(PyObject *o, PyObject *name, ...);
PyObject *PyObject_Str(PyObject *o);
PyObject *PyObject_Repr(PyObject *o);
ssize_t PyObject_Hash(PyObject *o);
PyObject *PyLong_FromLong(long number);
long PyLong_AsLong(PyObject *o);
unsigned long PyLong_AsUnsignedLong(PyObject *o);
double PyFloat_AsDouble(PyObject *o);
ssize_t PyTuple_Size(PyObject *o);
PyObject *PyTuple_GetItem(PyObject *o, ssize_t at);
ssize_t PyList_Size(PyObject *o);
PyObject *PyList_GetItem(PyObject *o, ssize_t at);
ssize_t PyDict_Size(PyObject *o);
int PyDict_Next(PyObject *o, ssize_t *at, PyObject **key, PyObject **value);
PyObject *PyEval_GetFrame(void);
PyObject *PyFrame_GetBack(PyObject *frame);
PyObject *PyFrame_GetCode(PyObject *frame);
__attribute__((weak)) int PyFrame_GetLasti(PyObject *frame); /* not before Python 3.11 */

#endif
