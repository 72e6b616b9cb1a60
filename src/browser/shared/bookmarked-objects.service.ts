import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import type { Actor } from '../../common/access.js';
import { findResource } from '../../common/resource/registry.js';
import { summariesOf } from '../../common/resource/represent.js';
import type { Bookmark } from './bookmarks.js';
import { titleOf } from './values.js';
import { wordFor } from './words.js';

/** An object as a list of such shows it. */
export interface BookmarkedObject {
  name: string;
  /** Of its kind. */
  label: string;
  url: string;
}

/** Names what a browser keeps: what is gone or may no longer be read has none, and is left out. */
@Injectable()
export class BookmarkedObjects {
  constructor(private readonly database: Database) {}

  /** One statement for each kind among them. */
  async named(marks: readonly Bookmark[], actor: Actor): Promise<BookmarkedObject[]> {
    const found = new Map<Bookmark, BookmarkedObject>();
    const context = { database: this.database, actor, detail: false };
    for (const type of new Set(marks.map((mark) => mark.type))) {
      const definition = findResource(type);
      if (!definition?.stored) continue;
      const own = marks.filter((mark) => mark.type === type);
      const ids = own.map(({ id }) => id);
      const summaries = await summariesOf(definition, ids, context);
      for (const mark of own) {
        const summary = summaries.get(mark.id);
        if (!summary) continue;
        const name = titleOf({ ...summary, type, id: mark.id });
        found.set(mark, { name, label: wordFor(type), url: definition.url(mark.id) });
      }
    }
    return marks.flatMap((mark) => found.get(mark) ?? []);
  }
}
