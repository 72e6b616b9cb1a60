import { Char, Variables } from '../common/fields/field.js';

/**
 * Body of a provisioning callback: a machine requests a job on itself
 * (docs/contract/launching.md#provisioning-callbacks).
 */
export class CallbackBody {
  @Char({ max: 1024, writeOnly: true, column: null, filter: false, help: 'Key of the template.' })
  host_config_key!: string;

  @Variables({
    writeOnly: true,
    column: null,
    filter: false,
    assumed: false,
    help: 'Variables, where the template asks for them.',
  })
  extra_vars!: string;
}
