import fc from 'fast-check';
import { NO_MESSAGES, inspectMessages, mergeMessages } from './messages.js';
import type { Messages } from './message-events.js';

const errorsOf = (value: unknown): string[] => inspectMessages(value).errors;

describe('inspectMessages', () => {
  it.each([
    [[], "Expected dict for 'messages' field, found <class 'list'>"],
    ['x', "Expected dict for 'messages' field, found <class 'str'>"],
    [
      { x: {} },
      "Event 'x' invalid, must be one of 'started', 'success', 'error', or 'workflow_approval'",
    ],
    [{ started: 'x' }, "Expected dict for event 'started', found <class 'str'>"],
    [
      { workflow_approval: 1.5 },
      "Expected dict for event 'workflow_approval', found <class 'float'>",
    ],
    [
      { workflow_approval: { x: {} } },
      "Workflow Approval event 'x' invalid, must be one of 'running', 'approved', 'timed_out', or 'denied'",
    ],
    [
      { workflow_approval: { denied: true } },
      "Expected dict for workflow approval event 'denied', found <class 'bool'>",
    ],
    [{ error: { x: '' } }, "Message type 'x' invalid, must be either 'message' or 'body'"],
    [{ error: { message: 1 } }, "Expected string for 'message', found <class 'int'>, "],
    [{ error: { body: {} } }, "Expected string for 'body', found <class 'dict'>, "],
    [
      { started: { message: 'a\nb' } },
      'Messages cannot contain newlines (found newline in started event)',
    ],
    [
      { workflow_approval: { running: { message: 'a\nb' } } },
      'Messages cannot contain newlines (found newline in workflow_approval event)',
    ],
  ])('%j: %s', (value, text) => {
    expect(errorsOf(value)).toEqual([text]);
  });

  it('reports several errors', () => {
    expect(errorsOf({ x: 1, started: 2, error: { y: 1, message: [] } })).toHaveLength(4);
  });

  it.each([
    null,
    {},
    NO_MESSAGES,
    { started: { message: null, body: 'a\nb' }, workflow_approval: { running: null } },
  ])('accepts %j', (value) => {
    expect(errorsOf(value)).toEqual([]);
  });

  it('never throws', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => Array.isArray(errorsOf(value))));
  });
});

describe('mergeMessages', () => {
  const stored: Messages = {
    started: { message: 'old', body: 'old body' },
    success: { message: 'kept' },
    error: null,
    workflow_approval: { running: { message: 'run' }, denied: { message: 'no' } },
  };

  it('keeps missing parts', () => {
    expect(mergeMessages(stored, {})).toEqual(stored);
    expect(mergeMessages(stored, { started: {} })).toEqual(stored);
    expect(mergeMessages(stored, { workflow_approval: {} })).toEqual(stored);
  });

  it('replaces a part and keeps the other', () => {
    expect(mergeMessages(stored, { started: { message: 'new' } })).toMatchObject({
      started: { message: 'new', body: 'old body' },
      success: { message: 'kept' },
    });
  });

  it('clears a part that is null or empty', () => {
    expect(
      mergeMessages(stored, {
        started: { message: '', body: null },
        success: null,
        workflow_approval: { running: null },
      }),
    ).toEqual({
      started: { message: '', body: null },
      success: null,
      error: null,
      workflow_approval: { running: null, denied: { message: 'no' } },
    });
    expect(mergeMessages(stored, null)).toBeNull();
    expect(mergeMessages(stored, { workflow_approval: null })?.workflow_approval).toBeNull();
  });

  it('adds the events that a new template omits', () => {
    expect(mergeMessages(null, { error: { message: 'x' } })).toEqual({
      ...NO_MESSAGES,
      error: { message: 'x' },
    });
    expect(mergeMessages(null, null)).toBeNull();
  });
});
