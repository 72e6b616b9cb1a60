import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import type { Actor } from '../../common/access.js';
import { findResource } from '../../common/resource/define-resource.js';
import type { Bookmark } from './bookmarks.js';
import { titlesOf } from './titles.js';
import { labelFor } from './labels.js';

/** An object in a list of bookmarks. */
export interface BookmarkedObject {
  name: string;
  /** Label of the object's resource type. */
  label: string;
  url: string;
}

/** Finds the names of bookmarked objects; omits deleted and unreadable objects. */
@Injectable()
export class BookmarkedObjects {
  constructor(private readonly database: Database) {}

  /**
   * Returns the readable objects in the order of the bookmarks. Runs at most three statements for
   * each type.
   */
  async find(marks: readonly Bookmark[], actor: Actor): Promise<BookmarkedObject[]> {
    const found = new Map<Bookmark, BookmarkedObject>();
    const context = { database: this.database, actor };
    for (const type of new Set(marks.map((mark) => mark.type))) {
      const definition = findResource(type);
      if (!definition?.stored) continue;
      const ofType = marks.filter((mark) => mark.type === type);
      const ids = ofType.map(({ id }) => id);
      const titles = await titlesOf(definition, ids, context);
      for (const mark of ofType) {
        const name = titles.get(mark.id);
        if (name === undefined) continue;
        found.set(mark, { name, label: labelFor(type), url: definition.url(mark.id) });
      }
    }
    return marks.flatMap((mark) => found.get(mark) ?? []);
  }
}
