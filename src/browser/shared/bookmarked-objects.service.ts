import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import type { Actor } from '../../common/access.js';
import { findResource } from '../../common/resource/registry.js';
import { summariesOf } from '../../common/resource/represent.js';
import type { Bookmark } from './bookmarks.js';
import { objectTitleOf } from './values.js';
import { wordFor } from './words.js';

/** An object in a list of bookmarks. */
export interface BookmarkedObject {
  name: string;
  /** Label of the object's resource type. */
  label: string;
  url: string;
}

/** Finds the names of bookmarked objects; omits those that are deleted or not readable. */
@Injectable()
export class BookmarkedObjects {
  constructor(private readonly database: Database) {}

  /**
   * Returns the readable objects in the order of the bookmarks; runs one statement for each type.
   */
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
        const name = objectTitleOf({ ...summary, type, id: mark.id });
        found.set(mark, { name, label: wordFor(type), url: definition.url(mark.id) });
      }
    }
    return marks.flatMap((mark) => found.get(mark) ?? []);
  }
}
