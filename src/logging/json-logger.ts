import type { LoggerService } from '@nestjs/common';
import { currentScope } from '../common/http/request-scope.js';

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
type Level = (typeof LEVELS)[number];

/** Line of the log, with secrets replaced. */
export interface LogLine extends Record<string, unknown> {
  time: string;
  level: Level;
}

/** Keys whose texts, lists and objects are never logged, at any depth. */
const SECRET_KEY = /pass(word|phrase)?|secret|token|authorization|cookie|private|webhook_key/i;
const MASK = '***';
/** Depth below which values are masked unread. */
const MAX_DEPTH = 6;

/** Logger that writes one JSON line per event. Secrets are replaced by stars. */
export class JsonLogger implements LoggerService {
  /** Receives every line that is written. */
  listener: ((line: LogLine) => void) | null = null;

  constructor(private readonly minLevel: string) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.write('info', message, rest);
  }
  error(message: unknown, ...rest: unknown[]): void {
    this.write('error', message, rest);
  }
  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }
  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }
  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }
  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('error', message, rest);
  }

  private write(level: Level, message: unknown, rest: unknown[]): void {
    const minIndex = LEVELS.findIndex((item) => item === this.minLevel);
    if (LEVELS.indexOf(level) < minIndex) return;
    const isPlain = typeof message === 'object' && message !== null && !(message instanceof Error);
    const fields = isPlain ? message : { message };
    const line: LogLine = {
      time: new Date().toISOString(),
      level,
      context: typeof rest.at(-1) === 'string' ? rest.at(-1) : undefined,
      requestId: currentScope()?.requestId,
      ...redactMembers(fields),
    };
    process.stdout.write(`${JSON.stringify(line)}\n`);
    this.listener?.(line);
  }
}

function redact(value: unknown, depth = 0): unknown {
  if (value instanceof Error) return value.stack ?? value.message;
  if (value === null || typeof value !== 'object') return value;
  if (depth > MAX_DEPTH) return MASK;
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1));
  return redactMembers(value, depth);
}

function redactMembers(value: object, depth = 0): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).map(([key, item]: [key: string, item: unknown]) => [
      key,
      SECRET_KEY.test(key) && isRevealing(item) ? MASK : redact(item, depth + 1),
    ]),
  );
}

/** Returns false for numbers, such as counts of tokens, and for values that are not set. */
const isRevealing = (value: unknown): boolean =>
  typeof value === 'string' || (typeof value === 'object' && value !== null);
