/** Rules of settings that depend on objects of later features. */
export abstract class SettingRules {
  /** Returns the reason why a setting cannot be changed to a value, or null. */
  abstract faultOf(name: string, value: unknown): Promise<string | null>;
}
