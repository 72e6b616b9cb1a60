/**
 * What a decorator has stored of a class, or of a method or its parameters; undefined where there is
 * none. The type is the decorator's to know.
 *
 * @param property of the class whose prototype, or which itself, is the target
 */
export const metadataOf = <Stored>(
  key: string,
  target: object,
  property?: string | symbol,
): Stored | undefined =>
  (property === undefined
    ? Reflect.getMetadata(key, target)
    : Reflect.getMetadata(key, target, property)) as Stored | undefined;
