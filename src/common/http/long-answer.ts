import type { Response } from 'express';
import { entriesOf, exactJson } from '../exact-json.js';
import { isRecord } from '../records.js';
import { Turns } from '../turns.js';

/** How deep an answer is taken apart: to the values of a host among the hosts of a document. */
const DEPTH = 3;
/** Characters that are written at once. */
const PORTION = 65_536;

const longAnswers = new WeakSet<object>();

/** Has an answer that may be long written in pieces, with turns for others between them. */
export function inPieces<Answer extends object>(answer: Answer): Answer {
  longAnswers.add(answer);
  return answer;
}

export const isInPieces = (answer: unknown): answer is object =>
  typeof answer === 'object' && answer !== null && longAnswers.has(answer);

/** The JSON of an answer, which what follows it together makes. */
function* piecesOf(value: unknown, depth: number): Generator<string> {
  if (depth === 0 || !isRecord(value)) {
    yield exactJson(value);
    return;
  }
  let before = '{';
  for (const [name, member] of entriesOf(value)) {
    if (member === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    yield* piecesOf(member, depth - 1);
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}

/** Writes the JSON of an answer and ends it; stops where the client has left. */
export async function writeInPieces(response: Response, answer: object): Promise<void> {
  const turns = new Turns();
  let text = '';
  for (const piece of piecesOf(answer, DEPTH)) {
    text += piece;
    if (text.length >= PORTION) {
      response.write(text);
      text = '';
    }
    await turns.next();
    if (response.destroyed) return;
  }
  response.end(text);
}
