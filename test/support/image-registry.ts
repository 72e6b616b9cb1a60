import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

const LOGIN = { username: 'puller', password: 'hunter2-hunter2' };
const AUTHORIZATION = `Basic ${Buffer.from(Object.values(LOGIN).join(':')).toString('base64')}`;

const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';

/** Registry of one image, `team/tools` by any tag or digest, which requires a login. */
export class ImageRegistry {
  /** True: responses with blobs start but do not end. */
  stalls = false;
  /** True once the response with a blob has stalled. */
  hasStalled = false;

  private constructor(
    private readonly server: Server,
    /** Digest of the image. */
    readonly digest: string,
  ) {}

  /** @param folder that an engine wrote for `push IMAGE dir:FOLDER` */
  static async open(folder: string): Promise<ImageRegistry> {
    const manifest = await readFile(join(folder, 'manifest.json'));
    const digest = `sha256:${createHash('sha256').update(manifest).digest('hex')}`;
    const server = createServer((request, response) => {
      if (request.headers.authorization !== AUTHORIZATION) {
        response.writeHead(401, { 'www-authenticate': 'Basic realm="images"' }).end();
        return;
      }
      const [, image, kind, name = ''] =
        /^\/v2\/(.+)\/(manifests|blobs)\/(?:sha256:)?(.+)$/.exec(request.url ?? '') ?? [];
      if (kind === undefined) return void response.end('{}');
      if (image !== 'team/tools') {
        const errors = [{ code: 'MANIFEST_UNKNOWN', message: 'manifest unknown' }];
        response.writeHead(404, { 'content-type': 'application/json' });
        return void response.end(JSON.stringify({ errors }));
      }
      const type = kind === 'manifests' ? MANIFEST : 'application/octet-stream';
      const content = kind === 'manifests' ? manifest : readFile(join(folder, name));
      void Promise.resolve(content).then((bytes) => {
        response.writeHead(200, { 'content-type': type, 'docker-content-digest': digest });
        registry.hasStalled = registry.stalls && kind === 'blobs';
        if (registry.hasStalled) response.write(bytes.subarray(0, 1000));
        else response.end(bytes);
      });
    });
    const registry = new ImageRegistry(server, digest);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return registry;
  }

  get host(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Inputs of the credential for pulls. */
  get inputs(): Record<string, unknown> {
    return { ...LOGIN, host: this.host, verify_ssl: false };
  }

  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }
}
