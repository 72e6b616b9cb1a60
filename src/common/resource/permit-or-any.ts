import { TRUE, type Sql } from '../../database/sql.js';
import { permit, type Actor } from '../access.js';
import { resource } from './define-resource.js';

/**
 * Compiles an action on a type for one caller.
 *
 * @param actor null without a caller, as for launches by a webhook or a schedule; everything is permitted
 */
export const permitOrAny = (
  type: string,
  action: string,
  alias: string,
  actor: Actor | null,
): Sql => (actor ? permit(resource(type).policy, action, alias, actor) : TRUE);
