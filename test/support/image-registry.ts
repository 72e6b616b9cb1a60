import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

const LOGIN = { username: 'puller', password: 'hunter2-hunter2' };
const AUTHORIZATION = `Basic ${Buffer.from(Object.values(LOGIN).join(':')).toString('base64')}`;

const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';

/** A registry of one image, which asks who one is. */
export class ImageRegistry {
  private constructor(
    private readonly server: Server,
    /** Digest of its image. */
    readonly digest: string,
  ) {}

  /** @param folder what an engine wrote for `push IMAGE dir:FOLDER` */
  static async open(folder: string): Promise<ImageRegistry> {
    const manifest = await readFile(join(folder, 'manifest.json'));
    const digest = `sha256:${createHash('sha256').update(manifest).digest('hex')}`;
    const server = createServer((request, response) => {
      if (request.headers.authorization !== AUTHORIZATION) {
        response.writeHead(401, { 'www-authenticate': 'Basic realm="images"' }).end();
        return;
      }
      const [, kind, name = ''] =
        /\/(manifests|blobs)\/(?:sha256:)?(.+)$/.exec(request.url ?? '') ?? [];
      if (kind === undefined) return void response.end('{}');
      const type = kind === 'manifests' ? MANIFEST : 'application/octet-stream';
      const content = kind === 'manifests' ? manifest : readFile(join(folder, name));
      void Promise.resolve(content).then((bytes) =>
        response
          .writeHead(200, { 'content-type': type, 'docker-content-digest': digest })
          .end(bytes),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new ImageRegistry(server, digest);
  }

  get host(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Inputs of a credential with which images are pulled. */
  get inputs(): Record<string, unknown> {
    return { ...LOGIN, host: this.host, verify_ssl: false };
  }

  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }
}
