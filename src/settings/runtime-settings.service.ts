import { Injectable } from '@nestjs/common';
import { isSameJson } from '../common/exact-json.js';
import { mapValues, tableOf } from '../common/records.js';
import { logAggregatorFaults } from '../config/logging-settings.js';
import { isSealed, rowContext, SecretBox } from '../common/crypto/secret-box.js';
import { ActivityRecorder } from '../common/activity/activity.js';
import { invalidPk } from '../common/fields/fault-texts.js';
import { resource } from '../common/resource/define-resource.js';
import { ReferencesService } from '../common/rest/references.service.js';
import { toBoolean } from '../common/fields/lenient-reader.js';
import { ENCRYPTED } from '../common/fields/text.js';
import { type FieldErrors, Invalid, messageOf } from '../common/errors/errors.js';
import { entryFault, isVariables, textFault, type SettingDeclaration } from '../config/setting.js';
import { isTransient } from '../database/sql-state.js';
import { Settings, SETTINGS, type SettingName, type SettingValues } from '../config/settings.js';
import { computedSetting } from './computed-settings.js';
import { InstallationRepository } from './installation.repository.js';
import { SettingRules } from './setting-rules.js';
import { categoryOf, declaredName, SETTING_FIELDS } from './setting-fields.js';
import { SettingsRepository } from './settings.repository.js';

type Declaration = SettingDeclaration<unknown>;
const DECLARATIONS: Readonly<Record<string, Declaration | undefined>> = SETTINGS;

/** Current settings: the environment's values, with changes made through the API. */
@Injectable()
export class RuntimeSettings {
  constructor(
    private readonly settings: Settings,
    private readonly changes: SettingsRepository,
    private readonly installation: InstallationRepository,
    private readonly activity: ActivityRecorder,
    private readonly references: ReferencesService,
    private readonly rules: SettingRules,
    private readonly box: SecretBox,
  ) {}

  /**
   * Reads current values from the database, so that a change applies to the next request in every
   * process.
   */
  async get<Name extends SettingName>(...names: Name[]): Promise<Pick<SettingValues, Name>> {
    const values = await this.stored(names);
    return tableOf(names, (name) => this.opened(name, values[name])) as Pick<SettingValues, Name>;
  }

  /** Returns current values; secrets that were changed are sealed. */
  private async stored(names: readonly SettingName[]): Promise<Record<string, unknown>> {
    const rows = await this.changes.of(names);
    const changed = new Map(rows.map((row) => [row.name, row.value]));
    return tableOf(names, (name) => (changed.has(name) ? changed.get(name) : this.settings[name]));
  }

  private opened(name: SettingName, value: unknown): unknown {
    return isSecret(name) && typeof value === 'string' && isSealed(value)
      ? this.box.open(value, sealContext(name))
      : value;
  }

  categories(): readonly string[] {
    return [...new Set(SETTING_FIELDS.map(categoryOf))].sort();
  }

  /**
   * Returns the names of the settings of a category, or null for an unknown category; `all` and
   * `changed` are special categories.
   */
  async names(category: string): Promise<readonly string[] | null> {
    if (category === 'changed') {
      const changed = await this.changes.names();
      return changed.filter((name) => name in SETTINGS);
    }
    const fields = SETTING_FIELDS.filter(
      (field) => category === 'all' || categoryOf(field) === category,
    );
    return fields.length > 0 ? fields.map(({ name }) => name) : null;
  }

  /** Returns values for the API, with secrets masked. */
  async show(names: readonly string[]): Promise<Record<string, unknown>> {
    const values = await this.stored(names.flatMap((name) => declaredName(name) ?? []));
    const uuid = (): Promise<string> => this.installation.uuid();
    const entries = names.map(async (name): Promise<[string, unknown]> => {
      const declared = declaredName(name);
      const value = declared ? masked(declared, values[declared]) : computedSetting(name, uuid);
      return [name, await value];
    });
    return Object.fromEntries(await Promise.all(entries));
  }

  /**
   * Changes run-time settings, in the caller's transaction. Other settings are ignored if their values are
   * unchanged.
   *
   * @throws Invalid naming every setting that is invalid or cannot be changed here
   */
  async change(names: readonly string[], body: Record<string, unknown>): Promise<void> {
    await this.changes.lock();
    const current = await this.show(names);
    const errors: FieldErrors = {};
    const changes: Record<string, unknown> = {};
    for (const name of Object.keys(body)) {
      const declared = declaredName(name);
      if (!names.includes(name)) {
        errors[name] = [declared ? otherCategory(declared) : 'There is no setting of this name.'];
        continue;
      }
      if (isSameJson(body[name], current[name])) continue;
      try {
        const value = parseValue(declared, body[name]);
        await this.assertExists(declared, value);
        const fault = await this.rules.faultOf(name, value);
        if (fault !== null) throw new Error(fault);
        const isChanged = declared !== null && declared in changes;
        if (isChanged && !isSameJson(changes[declared], value)) {
          throw new Error(`This is another name of ${declared}: both were sent, and they differ.`);
        }
        changes[declared ?? name] = value;
      } catch (error) {
        if (isTransient(error)) throw error;
        errors[name] = [messageOf(error)];
      }
    }
    if (Object.keys(errors).length > 0) throw new Invalid(errors);
    // The category of the request can lack the settings that log aggregation depends on.
    const logging = await this.show((await this.names('logging')) ?? []);
    const isLogging = Object.keys(changes).some((name) => Object.hasOwn(logging, name));
    const faults = isLogging ? logAggregatorFaults({ ...logging, ...changes }) : [];
    if (faults.length > 0) throw new Invalid({ __all__: faults });
    for (const [name, value] of Object.entries(changes)) {
      await this.changes.store(name, this.sealed(name, value));
    }
    this.log(current, changes);
  }

  private sealed(name: string, value: unknown): unknown {
    return isSecret(name) && typeof value === 'string' && value !== ''
      ? this.box.seal(value, sealContext(name))
      : value;
  }

  /** @throws Error for a setting with the id of an object that does not exist */
  private async assertExists(name: SettingName | null, value: unknown): Promise<void> {
    const type = name === null ? undefined : DECLARATIONS[name]?.refersTo;
    if (type === undefined || typeof value !== 'number' || value === 0) return;
    const existing = await this.references.lockExisting(resource(type), [value]);
    if (existing.length === 0) throw new Error(invalidPk(value));
  }

  /** Resets settings to the values of the environment. */
  async reset(names: readonly string[]): Promise<void> {
    await this.changes.lock();
    const rows = await this.changes.forget(names);
    this.log(
      Object.fromEntries(rows.map(({ name, value }) => [name, value])),
      Object.fromEntries(
        rows.map(({ name }) => {
          const declared = declaredName(name);
          return [name, declared ? this.settings[declared] : undefined];
        }),
      ),
    );
  }

  private log(before: Record<string, unknown>, changes: Record<string, unknown>): void {
    if (Object.keys(changes).length === 0) return;
    this.activity.record({
      operation: 'update',
      object1: { type: 'setting', id: 0, name: Object.keys(changes).join(', ') },
      changes: mapValues(changes, (value, name) => [
        auditValue(name, before[name]),
        auditValue(name, value),
      ]),
    });
  }
}

const otherCategory = (name: SettingName): string =>
  `This setting belongs to the category "${SETTINGS[name].category}".`;

const isSecret = (name: string): boolean => DECLARATIONS[name]?.type === 'secret';

const sealContext = (name: string): string => rowContext('settings', name, 'value');

const masked = (name: string, value: unknown): unknown =>
  isSecret(name) && value !== '' ? ENCRYPTED : value;

const MAX_LOGGED = 4096;

/**
 * Returns a value for the activity stream: masks secrets, and shortens a long text, such as the data URL
 * of an image.
 */
function auditValue(name: string, given: unknown): unknown {
  const value = masked(name, given ?? null);
  const isLong = typeof value === 'string' && value.length > MAX_LOGGED;
  return isLong ? `${value.slice(0, MAX_LOGGED)}…` : value;
}

/** Maximum number of entries of a list. */
const MAX_ENTRIES = 1000;

const isTextList = (value: unknown): value is string[] =>
  Array.isArray(value) &&
  value.length <= MAX_ENTRIES &&
  value.every((entry) => typeof entry === 'string' && /^[^\u0000]{1,512}$/.test(entry));

function parseValue(name: SettingName | null, sent: unknown): unknown {
  const declaration = name === null ? undefined : DECLARATIONS[name];
  // Clients reset a reference with null.
  const value = sent === null && declaration?.refersTo ? declaration.default : sent;
  if (value === null && declaration?.runtime && declaration.default === null) return null;
  if (!declaration)
    throw new Error('This setting is computed by the program and cannot be changed.');
  if (!declaration.runtime) {
    throw new Error('This setting is read from the environment and cannot be changed here.');
  }
  switch (declaration.type) {
    case 'integer':
      return parseInteger(declaration, value);
    case 'boolean': {
      const parsed = toBoolean(value);
      if (parsed === undefined) throw new Error('Must be a valid boolean.');
      return parsed;
    }
    case 'list':
      return parseList(declaration, value);
    case 'map':
      if (!isVariables(value)) {
        throw new Error('Expected an object of texts by the names of environment variables.');
      }
      return value;
    default:
      return parseText(declaration, value);
  }
}

function parseText(declaration: Declaration, sent: unknown): string {
  if (typeof sent !== 'string' || sent.includes('\u0000')) throw new Error('Not a valid string.');
  if (declaration.type === 'secret' && sent === ENCRYPTED) {
    throw new Error(`${ENCRYPTED} keeps a stored secret, and none is stored.`);
  }
  const fault = textFault(declaration, sent);
  if (fault !== null) throw new Error(fault);
  return sent;
}

function parseList(declaration: Declaration, sent: unknown): readonly string[] {
  if (!isTextList(sent)) throw new Error('Expected a list of texts.');
  const fault = entryFault(declaration, sent);
  if (fault !== null) throw new Error(`Each entry ${fault}`);
  return sent;
}

function parseInteger(declaration: Declaration, sent: unknown): number {
  const value = typeof sent === 'string' && /^-?\d{1,15}$/.test(sent) ? Number(sent) : sent;
  if (typeof value !== 'number' || !Number.isInteger(value)) {
    throw new Error('A valid integer is required.');
  }
  const { min = 0, max = Number.MAX_SAFE_INTEGER } = declaration;
  if (value < min) throw new Error(`Ensure this value is greater than or equal to ${min}.`);
  if (value > max) throw new Error(`Ensure this value is less than or equal to ${max}.`);
  return value;
}
