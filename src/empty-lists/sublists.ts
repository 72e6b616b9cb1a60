import { resource } from '../common/resource/registry.js';
import { subListOf } from '../common/rest/sublist-kinds.js';
import { FALSE } from '../database/sql.js';

/** A list below an object of a kind this product has none of. */
export const noneOf = (type: string): ReturnType<typeof subListOf> =>
  subListOf(
    () => resource(type),
    () => FALSE,
  );
