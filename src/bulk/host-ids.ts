import { INT4_MAX } from '../common/fields/text.js';
import { Invalid, type FieldErrors } from '../common/errors/errors.js';

/**
 * Reads a list of ids; what occurs twice counts once.
 *
 * @throws Invalid with the faults by index
 */
export function readIds(field: string, given: readonly unknown[]): number[] {
  const errors: FieldErrors = {};
  const ids = new Set<number>();
  given.forEach((one, index) => {
    const id = typeof one === 'string' && /^\d{1,10}$/.test(one) ? Number(one) : one;
    if (typeof id !== 'number' || !Number.isInteger(id)) {
      errors[index] = ['A valid integer is required.'];
    } else if (id < 1) errors[index] = ['Ensure this value is greater than or equal to 1.'];
    else if (id > INT4_MAX) {
      errors[index] = [`Ensure this value is less than or equal to ${INT4_MAX}.`];
    } else ids.add(id);
  });
  if (Object.keys(errors).length > 0) throw new Invalid({ [field]: errors });
  return [...ids];
}
