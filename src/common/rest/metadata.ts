/**
 * Returns the metadata that a decorator stored on a class, method or parameter, or undefined. The caller
 * chooses the type, which only the decorator knows.
 *
 * @param property name of the member, if `target` is the class or prototype that has it
 */
export const metadataOf = <Stored>(
  key: string,
  target: object,
  property?: string | symbol,
): Stored | undefined =>
  (property === undefined
    ? Reflect.getMetadata(key, target)
    : Reflect.getMetadata(key, target, property)) as Stored | undefined;
