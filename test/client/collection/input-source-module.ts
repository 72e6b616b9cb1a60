import type { ModuleRun } from './module-run.js';

const ENDPOINT = 'credential_input_sources';

/**
 * Creates, changes or deletes the source of a credential's input, which has no name, but a target and a
 * field.
 */
export async function runInputSource(run: ModuleRun): Promise<void> {
  const { source_credential: source, input_field_name, metadata, description, state } = run.params;
  const target_credential = await run.idOf('credentials', String(run.params.target_credential));
  const query = { target_credential, input_field_name };
  const existing = await run.find(ENDPOINT, { query });
  if (state === 'absent') return run.remove(existing);
  const source_credential =
    source === undefined ? undefined : await run.idOf('credentials', String(source));
  await run.ensure(existing, { ...query, source_credential, metadata, description }, ENDPOINT);
}
