const DOMAIN =
  /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?::\d{1,5})?$/i;
const COMPONENT = /^[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*$/;
const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^[a-z][a-z0-9]*(?:[-_+.][a-z][a-z0-9]*)*:[0-9a-f]{32,}$/i;
/** Local sources that Podman would read an image from, in place of a registry. */
const TRANSPORT =
  /^(?:containers-storage|dir|docker-archive|docker-daemon|oci|oci-archive|ostree|sif|tarball):/;
const DOMAIN_MARK = /[.:]|^localhost$/;

/** Returns the host name of an image's registry; null if the engine chooses the registry. */
export function registryOf(image: string): string | null {
  const [first = '', ...rest] = image.split('/');
  return rest.length > 0 && DOMAIN_MARK.test(first) ? first.replace(/:\d+$/, '') : null;
}

/**
 * Returns true if a text is the name of a container image: `[domain[:port]/]path[:tag][@sha256:…]`.
 */
export function isImageReference(text: string): boolean {
  if (TRANSPORT.test(text)) return false;
  const [name = '', digest, ...extra] = text.split('@');
  if (extra.length > 0 || (digest !== undefined && !DIGEST.test(digest))) return false;
  const colon = name.indexOf(':', name.lastIndexOf('/') + 1);
  if (colon >= 0 && !TAG.test(name.slice(colon + 1))) return false;
  const [first = '', ...rest] = (colon < 0 ? name : name.slice(0, colon)).split('/');
  const isDomain = rest.length > 0 && DOMAIN_MARK.test(first);
  if (isDomain && !DOMAIN.test(first)) return false;
  return (isDomain ? rest : [first, ...rest]).every((part) => COMPONENT.test(part));
}
