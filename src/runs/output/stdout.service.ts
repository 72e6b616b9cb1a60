import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { Reauthorize } from '../../common/rest/parameters.js';
import { Settings } from '../../config/settings.js';
import { RunOutputsRepository, type OutputChunk } from './run-outputs.repository.js';
import { plainText } from './stdout.js';

/** Part of the output of a run. Lines are counted from 0; `end` is the line after the last one. */
export interface Output {
  range: { start: number; end: number; absolute_end: number };
  content: string;
}

/** Maximum number of events per read of a download, and of bytes before the last of them. */
const BATCH = { events: 1000, bytes: 1024 * 1024 };

/** Assembles the output of a run from its events. */
@Injectable()
export class StdoutService {
  constructor(
    private readonly outputs: RunOutputsRepository,
    private readonly settings: Settings,
  ) {}

  /**
   * Returns the lines `start` to `end` with their colors. If the range is larger than
   * STDOUT_MAX_BYTES_DISPLAY, the content is a message instead.
   */
  async read(runId: number, start = 0, end = 2_147_483_647): Promise<Output> {
    const { bytes, lines } = await this.outputs.size(runId, start, end);
    const limit = this.settings.STDOUT_MAX_BYTES_DISPLAY;
    if (bytes > limit) {
      const content = `Standard Output too large to display (${bytes} bytes), only download supported for sizes over ${limit} bytes.`;
      return { range: { start: 0, end: 1, absolute_end: 1 }, content };
    }
    const chunks = await this.outputs.lines(runId, start, end);
    return {
      range: { start, end: Math.min(end, lines), absolute_end: lines },
      content: linesBetween(chunks, start, end),
    };
  }

  /**
   * Streams the whole output and reads it in parts.
   *
   * @param reauthorize called before each further part; the stream fails if it throws
   */
  stream(runId: number, options: { colors: boolean; reauthorize: Reauthorize }): Readable {
    return Readable.from(this.parts(runId, options));
  }

  private async *parts(
    runId: number,
    { colors, reauthorize }: { colors: boolean; reauthorize: Reauthorize },
  ): AsyncGenerator<string> {
    for (let counter = 0; ; await reauthorize()) {
      const chunks = await this.outputs.after(runId, counter, BATCH);
      const last = chunks.at(-1);
      if (!last) return;
      counter = last.counter;
      const lines = chunks.filter(({ stdout }) => stdout !== '').map(({ stdout }) => `${stdout}\n`);
      const text = lines.join('');
      if (text !== '') yield colors ? text : plainText(text);
    }
  }
}

/** Returns the output of events without the lines that are outside the range. */
function linesBetween(chunks: readonly OutputChunk[], start: number, end: number): string {
  const lines = chunks.flatMap(({ stdout, start_line }) =>
    stdout
      .split('\n')
      .map((line, index) => [start_line + index, line] as const)
      .filter(([number]) => number >= start && number < end)
      .map(([, line]) => line),
  );
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}
