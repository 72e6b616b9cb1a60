import { Injectable } from '@nestjs/common';
import { Forbidden, Invalid } from '../common/errors/errors.js';
import { RuntimeSettings } from '../settings/runtime-settings.service.js';

/** Collections whose modules can also be called by their short name. */
const BUILTIN = /^ansible\.(?:builtin|legacy)\./;

const DEFAULT_MODULE = 'command';

/** Returns the shortest name of a module: `ping` and `ansible.builtin.ping` are the same. */
export const shortName = (module: string): string => module.replace(BUILTIN, '');

/** The modules that ad hoc commands can run (docs/contract/ad-hoc-commands.md#modules). */
@Injectable()
export class CommandModules {
  constructor(private readonly runtime: RuntimeSettings) {}

  async offered(): Promise<readonly string[]> {
    return (await this.runtime.get('AD_HOC_COMMANDS')).AD_HOC_COMMANDS;
  }

  /** Returns the description of `module_name` in OPTIONS. */
  async options(): Promise<Readonly<Record<string, unknown>>> {
    const offered = await this.offered();
    const defaultModule = offered.find((name) => shortName(name) === DEFAULT_MODULE);
    return {
      type: 'choice',
      choices: offered.map((name) => [name, name]),
      required: defaultModule === undefined,
      default: defaultModule,
    };
  }

  /**
   * Returns the module of a command.
   *
   * @param name name in the request; empty: `command`, if this module is offered
   * @throws Forbidden if no modules are offered, Invalid for a module that is not offered
   */
  async resolve(name: string): Promise<string> {
    const offered = await this.offered();
    if (offered.length === 0) throw new Forbidden('Ad hoc commands are disabled.');
    const short = new Set(offered.map(shortName));
    if (name === '' && !short.has(DEFAULT_MODULE)) {
      throw Invalid.field('module_name', 'This field is required.');
    }
    const module = name === '' ? DEFAULT_MODULE : name;
    if (!short.has(shortName(module))) {
      throw Invalid.field('module_name', `"${module}" is not a valid choice.`);
    }
    return module;
  }
}
