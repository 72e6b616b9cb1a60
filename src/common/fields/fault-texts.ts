/** Validation messages of the contract (docs/contract/conventions.md#errors). */
export const FAULTS = {
  required: 'This field is required.',
  null: 'This field may not be null.',
  blank: 'This field may not be blank.',
  emptyList: 'This list may not be empty.',
  string: 'Not a valid string.',
  storable: 'Null characters are not allowed.',
  email: 'Enter a valid email address.',
  integer: 'A valid integer is required.',
  number: 'A valid number is required.',
  boolean: 'Must be a valid boolean.',
  instant:
    'Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].',
  json: 'Value must be valid JSON.',
} as const;

export const tooLong = (max: number): string =>
  `Ensure this field has no more than ${max} characters.`;
export const tooMany = (max: number): string =>
  `Ensure this field has no more than ${max} elements.`;
export const tooSmall = (min: number): string =>
  `Ensure this value is greater than or equal to ${min}.`;
export const tooLarge = (max: number): string =>
  `Ensure this value is less than or equal to ${max}.`;
export const noDictionary = (value: unknown): string =>
  `Invalid data. Expected a dictionary, but got ${typeName(value)}.`;
export const noList = (value: unknown): string =>
  `Expected a list of items but got type "${typeName(value)}".`;
export const noPk = (value: unknown): string =>
  `Incorrect type. Expected pk value, received ${typeName(value)}.`;
export const invalidPk = (id: unknown): string =>
  `Invalid pk "${String(id)}" - object does not exist.`;

export function noChoice(value: unknown): string {
  const shown = typeof value === 'string' ? value : JSON.stringify(value);
  return `"${shown}" is not a valid choice.`;
}

/** Returns the type name that the contract's messages use. */
export function typeName(value: unknown): string {
  if (Array.isArray(value)) return 'list';
  if (value === null) return 'NoneType';
  if (typeof value === 'string') return 'str';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float';
  return 'dict';
}
