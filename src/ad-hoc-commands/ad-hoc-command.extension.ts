import { Injectable } from '@nestjs/common';
import { extendEach, type RowOf } from '../common/resource/define-resource.js';
import type { Extension, RepresentContext, ShownMembers } from '../common/resource/extension.js';
import { launchedBy, LAUNCHED_BY, PASSWORDS_NEEDED } from '../runs/launched-by.js';
import { ShownRuns } from '../runs/shown-runs.service.js';
import type { AdHocCommand } from './ad-hoc-command.entity.js';
import { CommandPasswords } from './command-passwords.service.js';

export const AD_HOC_COMMAND_SHOWS: ShownMembers = {
  fields: { launched_by: LAUNCHED_BY, passwords_needed_to_start: PASSWORDS_NEEDED },
};

/** Adds the fields of ad hoc commands that are not columns, with two statements per page. */
@Injectable()
export class AdHocCommandExtension {
  constructor(
    private readonly runs: ShownRuns,
    private readonly passwords: CommandPasswords,
  ) {}

  async extend(
    rows: readonly RowOf<AdHocCommand>[],
    context: RepresentContext,
  ): Promise<Map<number, Extension>> {
    const [facts, needed] = await Promise.all([
      this.runs.facts(rows, context),
      this.passwords.needed(rows.map(({ credential_id: credential }) => credential)),
    ]);
    return extendEach(rows, (row) => {
      const run = facts.get(row.id);
      if (!run) return undefined;
      const fields = {
        name: row.module_name,
        launched_by: launchedBy(run),
        elapsed: run.live_elapsed ?? row.elapsed,
        passwords_needed_to_start: needed.get(row.credential_id) ?? [],
      };
      return { fields };
    });
  }
}
