import { BadRequestException, NotFoundException } from '@nestjs/common';
import { VariablesError } from '../fields/variables.js';
import { errorResponseOf, logEntryOf } from './errors.filter.js';
import {
  BadRequest,
  Conflict,
  Forbidden,
  Invalid,
  MethodNotAllowed,
  NotAcceptable,
  NotFound,
  PayloadTooLarge,
  TooManyRequests,
  Unauthenticated,
  Unavailable,
  UnsupportedMediaType,
} from '../errors/errors.js';

const database = (code: string): Error =>
  Object.assign(new Error('relation "secret" of the database'), { code });

it.each([
  ['BadRequest', new BadRequest('x'), 400],
  ['Invalid', Invalid.field('name', 'x'), 400],
  ['stored variables that cannot be parsed', new VariablesError('x'), 400],
  ['Unauthenticated', new Unauthenticated(), 401],
  ['Forbidden', new Forbidden(), 403],
  ['NotFound', new NotFound(), 404],
  ['MethodNotAllowed', new MethodNotAllowed('PUT'), 405],
  ['NotAcceptable', new NotAcceptable(), 406],
  ['Conflict', new Conflict('x'), 409],
  ['PayloadTooLarge', new PayloadTooLarge(10), 413],
  ['UnsupportedMediaType', new UnsupportedMediaType(), 415],
  ['TooManyRequests', new TooManyRequests(3), 429],
  ['Unavailable', new Unavailable(), 503],
  ['an unknown URL', new NotFoundException('Cannot GET /x'), 404],
  ['another fault of the request', new BadRequestException('internals'), 400],
  ['a fault of ours', new TypeError('internals'), 500],
  ['a value that is not an error', 'internals', 500],
  ['nothing', undefined, 500],
  ['a bad regular expression', database('2201B'), 400],
  ['a number out of range', database('22003'), 400],
  ['NUL in a text', database('22021'), 400],
  ['an unnamed unique rule', database('23505'), 409],
  ['a reference that went away', database('23503'), 409],
  ['a statement that took too long', database('57014'), 503],
  ['a lock that was not got', database('55P03'), 503],
  ['a deadlock that came again', database('40P01'), 503],
  ['a server that is shutting down', database('57P01'), 503],
  ['too many connections', database('53300'), 503],
  ['a refused connection', database('ECONNREFUSED'), 503],
  ['a lost connection', new Error('Connection terminated unexpectedly'), 503],
  ['an exhausted pool', new Error('timeout exceeded when trying to connect'), 503],
  [
    'a connection that came too late',
    new Error('Connection terminated due to connection timeout'),
    503,
  ],
  ['a closed pool', new Error('Cannot use a pool after calling end on the pool'), 503],
  ['a client that was cut off', new Error('Client was closed and is not queryable'), 503],
])('%s', (_case, error, status) => {
  const answer = errorResponseOf(error);
  expect(answer.status).toBe(status);
  expect(JSON.stringify(answer.body)).not.toMatch(/secret|internals|Cannot/);
  expect(Object.keys(answer.body)).toEqual([error instanceof Invalid ? 'name' : 'detail']);
});

it('the errors filter sends Retry-After', () => {
  expect(errorResponseOf(new TooManyRequests(3)).headers).toEqual({ 'Retry-After': '3' });
  expect(errorResponseOf(database('53300')).headers).toEqual({ 'Retry-After': '5' });
});

it.each([
  ['a limit', new Unavailable(1, 'Too much at once.'), 'warn'],
  ['a database that is unavailable', database('53300'), 'warn'],
  ['a fault', new Error('broken'), 'error'],
])(
  'the errors filter logs %s, with a stack trace only for an internal error',
  (_what, error, level) => {
    const note = logEntryOf(error, errorResponseOf(error).status);
    expect(note?.level).toBe(level);
    expect(note?.error.includes('\n')).toBe(level === 'error');
  },
);

it('the errors filter does not log refused requests', () => {
  expect(logEntryOf(new BadRequest('x'), 400)).toBeNull();
});
