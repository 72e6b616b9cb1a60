import type { Actor } from '../common/access.js';
import { Forbidden } from '../common/errors/errors.js';
import { Integer } from '../common/fields/field.js';
import { resource } from '../common/resource/define-resource.js';
import type { ValuesOf } from '../common/rest/hooks.js';
import type { ReferencesService } from '../common/rest/references.service.js';

const OPTIONS = { nullable: true, min: 1, filter: false } as const;

/** Fields of objects with a retention of their own (docs/contract/system-jobs.md#own-retention). */
export class RetentionFields {
  @Integer({ ...OPTIONS, max: 36_500, help: 'Days finished runs are kept; null inherits.' })
  retention_days!: number | null;

  @Integer({
    ...OPTIONS,
    max: 100_000,
    help: 'Newest runs of a template that are kept; null inherits.',
  })
  retention_runs!: number | null;
}

/** Values of a copy: a user who can create templates needs no permission on the retention. */
export const INHERITED_RETENTION = { retention_days: null, retention_runs: null };

/**
 * Verifies that a caller who changes the retention of a template administers its organization.
 * Retention removes runs, which only administrators can delete.
 *
 * @param values values of the request
 * @param template the template before the request, with its organization after it
 */
export async function assertMayRetain(
  values: ValuesOf<RetentionFields>,
  template: Partial<RetentionFields> & { organization: unknown },
  actor: Actor,
  references: ReferencesService,
): Promise<void> {
  const changes = (name: keyof RetentionFields): boolean =>
    name in values && (values[name] ?? null) !== (template[name] ?? null);
  if (actor.isSuperuser || !(changes('retention_days') || changes('retention_runs'))) return;
  const { organization } = template;
  if (typeof organization !== 'number') throw new Forbidden();
  await references.assertAllowed(resource('organization'), [organization], 'administer', actor);
}
