import { randomUUID } from 'node:crypto';
import { open, unlink, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addHost, emptyColumns, type HostColumns } from './host-columns.js';
import type { HostEntry } from './host-entries.js';

/** Maximum number of hosts that are buffered in memory and staged by one statement. */
const SPOOL_BATCH = 2000;
/** Number of characters of buffered lines after which a batch ends before its maximum number of hosts. */
const SPOOL_CHARACTERS = 4_000_000;

/**
 * File that buffers the validated hosts of a request until their transaction starts, so that a slow client
 * occupies a file instead of a database connection. The file is unlinked once it is open, so the system
 * removes it when the process ends.
 */
export class HostSpool {
  private readonly batches: { offset: number; bytes: number }[] = [];
  private batch = emptyColumns();
  private characters = 0;
  private offset = 0;
  private count = 0;
  private groups = false;

  private constructor(private readonly file: FileHandle) {}

  static async open(): Promise<HostSpool> {
    const path = join(tmpdir(), `hosts-${randomUUID()}`);
    const file = await open(path, 'wx+', 0o600);
    await unlink(path);
    return new HostSpool(file);
  }

  get size(): number {
    return this.count;
  }

  /** True if any host has a group. */
  get hasGroups(): boolean {
    return this.groups;
  }

  /** @param length number of characters of the line */
  async add(line: number, entry: HostEntry, length: number): Promise<void> {
    addHost(this.batch, line, entry);
    this.characters += length;
    this.count += 1;
    this.groups ||= entry.groups.length > 0;
    const isFull = this.batch.place.length === SPOOL_BATCH || this.characters >= SPOOL_CHARACTERS;
    if (isFull) await this.flush();
  }

  /** Yields the hosts in order. Can be called several times, once all hosts are added. */
  async *read(): AsyncGenerator<HostColumns> {
    await this.flush();
    for (const { offset, bytes } of this.batches) {
      const buffer = Buffer.alloc(bytes);
      await this.file.read(buffer, 0, bytes, offset);
      yield JSON.parse(buffer.toString('utf8')) as HostColumns;
    }
  }

  close(): Promise<void> {
    return this.file.close();
  }

  private async flush(): Promise<void> {
    if (this.batch.place.length === 0) return;
    const buffer = Buffer.from(JSON.stringify(this.batch));
    await this.file.write(buffer, 0, buffer.length, this.offset);
    this.batches.push({ offset: this.offset, bytes: buffer.length });
    this.offset += buffer.length;
    this.batch = emptyColumns();
    this.characters = 0;
  }
}
