/**
 * The files for containers restrict rights, memory, processes and passwords, as far as a test can read it
 * from them.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { parse } from 'yaml';

import { PACKAGE_FOLDER } from '../../src/config/version.js';

const text = (...path: string[]): string =>
  readFileSync(join(PACKAGE_FOLDER, 'deploy', ...path), 'utf8');

interface Service {
  readonly read_only?: boolean;
  readonly security_opt?: readonly string[];
  readonly cap_drop?: readonly string[];
  readonly build?: { readonly args?: Readonly<Record<string, string>> };
  readonly command?: readonly string[];
  readonly pids_limit?: number;
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly ports?: readonly string[];
  readonly image?: string;
  readonly mem_limit?: string;
  readonly volumes?: readonly string[];
}

describe('compose', () => {
  const { services } = parse(text('compose.yaml'), { merge: true }) as {
    services: Record<string, Service>;
  };

  it.each(Object.keys(services))(
    'runs %s with a read-only file system and no new privileges',
    (name) => {
      const { read_only: isReadOnly, security_opt: options } = services[name] ?? {};
      expect({ isReadOnly, options }).toEqual({
        isReadOnly: true,
        options: ['no-new-privileges:true'],
      });
    },
  );

  it.each(['set-up', 'api', 'worker'])('runs %s without capabilities of root', (name) => {
    expect(services[name]?.cap_drop).toEqual(['ALL']);
  });

  it('requires a password for Redis', () => {
    const { command = [] } = services.redis ?? {};
    expect(command.at(-1)).toContain(
      `printf 'requirepass %s\\n' "$$REDISCLI_AUTH" | exec redis-server - `,
    );
  });

  it('has no default passwords, and does not start without them', () => {
    const values = Object.values(services).flatMap(({ environment = {} }) =>
      Object.entries(environment),
    );
    const passwords = values.filter(([name]) => /PASSWORD|AUTH|DATABASE_URL|REDIS_URL/.test(name));
    const given = passwords.filter(
      ([name]) => !/^(ADMIN_PASSWORD|MIGRATION_DATABASE_URL)$/.test(name),
    );
    expect(given.length).toBeGreaterThanOrEqual(5);
    for (const [name, value] of given) {
      expect([name, String(value)]).toEqual([name, expect.stringMatching(/\$\{\w+:\?set it in/)]);
    }
    const optional = passwords.filter((one) => !given.includes(one));
    expect(optional.map(([, value]) => value)).toEqual([
      '${MIGRATION_DATABASE_URL:-}',
      '${ADMIN_PASSWORD:-}',
    ]);
  });

  it.each(['api', 'worker', 'postgres', 'redis'])('limits the memory of %s', (name) => {
    expect(services[name]?.mem_limit).toMatch(/^[1-9]\d*g$/);
  });

  it.each(['api', 'worker'])('limits the processes of %s', (name) => {
    expect(services[name]?.pids_limit).toBeGreaterThan(0);
  });

  it('mounts one key each for API and worker, read-only in a separate folder', () => {
    const mounts = Object.entries(services).map(([name, { volumes = [] }]) => [
      name,
      volumes.filter((one) => /key/.test(one)),
    ]);
    const [api, worker] = ['/keys-of/api', '/keys-of/worker'];
    expect(Object.fromEntries(mounts)).toEqual({
      'set-up': ['keys:/keys', `api-key:${api}`, `worker-key:${worker}`],
      ...{ api: ['api-key:/keys:ro'], worker: ['worker-key:/keys:ro'] },
      ...{ postgres: [], redis: [] },
    });
    const { KEYS_DIR, SECRET_KEY_FOLDERS } = services['set-up']?.environment ?? {};
    expect([KEYS_DIR, SECRET_KEY_FOLDERS]).toEqual(['/keys', `${api},${worker}`]);
    for (const name of ['api', 'worker']) {
      const { DATABASE_URL, REDIS_URL, SECRET_KEY_FILE, ...rest } =
        services[name]?.environment ?? {};
      expect(SECRET_KEY_FILE).toBe('/keys/secret_key');
      expect([typeof DATABASE_URL, typeof REDIS_URL]).toEqual(['string', 'string']);
      expect(Object.keys(rest)).toEqual(['SECRET_KEY_OLD', 'OUTBOUND_ALLOW', 'TRUSTED_PROXIES']);
    }
    // An empty volume takes the owner of the folder it is mounted over.
    const image = readFileSync(join(PACKAGE_FOLDER, 'Dockerfile'), 'utf8');
    expect(image).toContain(
      `install -d -o node -g node -m 0700 /data /data/home /keys ${api} ${worker}\n`,
    );
  });

  it('accepts third-party images by digest', () => {
    expect([services.postgres?.image, services.redis?.image]).toEqual([
      '${POSTGRES_IMAGE:-postgres:17-bookworm}',
      '${REDIS_IMAGE:-redis:7-bookworm}',
    ]);
    const { args } = services.api?.build ?? {};
    expect(args).toEqual({ NODE_IMAGE: '${NODE_IMAGE:-node:24-bookworm-slim}' });
  });

  it('requires the addresses of proxies, without which all clients share one address', () => {
    expect(services.api?.environment?.TRUSTED_PROXIES).toBe('${TRUSTED_PROXIES:-}');
  });

  it('exposes the port of the API only', () => {
    const open = Object.entries(services).filter(([, { ports }]) => ports !== undefined);
    expect(open.map(([name]) => name)).toEqual(['api']);
  });

  it('hides the superuser of PostgreSQL from the service', () => {
    const { POSTGRES_PASSWORD: superuser } = services.postgres?.environment ?? {};
    expect(superuser).toContain('POSTGRES_ADMIN_PASSWORD');
    for (const name of ['api', 'worker', 'set-up']) {
      expect(JSON.stringify(services[name])).not.toContain('POSTGRES_ADMIN_PASSWORD');
    }
    expect(text('chart', 'files', 'service-role.sh')).not.toMatch(/SUPERUSER|CREATEROLE/);
  });
});

describe('the Helm chart', () => {
  const templates = readdirSync(join(PACKAGE_FOLDER, 'deploy', 'chart', 'templates'))
    .map((name) => text('chart', 'templates', name))
    .join('\n');

  it('has no default passwords', () => {
    const values = text('chart', 'values.yaml');
    expect(values).not.toMatch(/password:\s*\S/i);
    for (const name of ['POSTGRES', 'POSTGRES_ADMIN', 'REDIS', 'ADMIN']) {
      const made = new RegExp(
        `get \\$old "${name}_PASSWORD" \\| b64dec\\) \\| default \\(randAlphaNum`,
      );
      expect(templates).toMatch(made);
    }
  });

  it('passes to each pod only its keys, and mounts none of them as a file', () => {
    expect(templates).not.toMatch(/envFrom|secretName: \{\{ include|persistentVolumeClaim/);
    const named = /define "controller\.environment"[^]*?range \$key := list ([^}]*) \}\}/;
    expect(named.exec(templates)?.[1]).toBe('"DATABASE_URL" "REDIS_URL" "SECRET_KEY"');
    const worker = text('chart', 'templates', 'worker.yaml');
    expect(worker).not.toContain('ADMIN');
    expect(worker).toContain('"command" $command "admin" false');
    expect(worker).not.toMatch(/secretKeyRef|secretVariable|secretName/);
  });

  it('requires a password for Redis', () => {
    expect(templates).toMatch(
      /printf 'requirepass %s\\n' "\$REDISCLI_AUTH" \|\s+exec redis-server - /,
    );
  });

  it('runs no pod as root or with access to the cluster API', () => {
    const pods = templates.match(/^kind: (?:Deployment|StatefulSet|CronJob)$/gm) ?? [];
    expect(pods).toHaveLength(5);
    expect(templates.match(/automountServiceAccountToken: false/g)).toHaveLength(pods.length);
    expect(templates.match(/include "controller\.(?:pod|datastore)Security"/g)).toHaveLength(
      pods.length,
    );
    expect(templates.match(/runAsNonRoot: true/g)).toHaveLength(2);
  });

  it('accepts the image by digest', () => {
    const values = parse(text('chart', 'values.yaml')) as { image: object };
    expect(values.image).toHaveProperty('digest', '');
    expect(templates).toContain('{{ $.Values.image.repository }}@{{ . }}');
  });

  it('permits only its own pods to reach PostgreSQL and Redis, and none to reach workers', () => {
    expect(templates).toContain('dict "postgresql" 5432 "redis" 6379');
    expect(templates.match(/kind: NetworkPolicy/g)).toHaveLength(3);
    expect(templates).toContain("policyTypes: ['Ingress']\n  ingress: []");
  });

  it('runs containers with a read-only file system and no new privileges', () => {
    const containers =
      templates.match(/^\s+- name: (?:api|worker|migrate|cleanup|postgresql|redis)$/gm) ?? [];
    const secured = templates.match(/include "controller\.containerSecurity"/g) ?? [];
    // A value of the chart selects the security context of the worker.
    expect(secured.length + 1).toBeGreaterThanOrEqual(containers.length);
    expect(templates.match(/readOnlyRootFilesystem: true/g)).toHaveLength(2);
    expect(templates.match(/allowPrivilegeEscalation: false/g)).toHaveLength(2);
  });

  it('requires the addresses of proxies, without which all clients share one address', () => {
    expect(text('chart', 'values.yaml')).toContain('TRUSTED_PROXIES');
  });

  it('limits the memory of every container', () => {
    const values = parse(text('chart', 'values.yaml')) as Record<
      string,
      { resources?: { limits?: { memory?: string } } }
    >;
    for (const name of ['api', 'worker', 'cleanup', 'postgresql', 'redis']) {
      expect([name, values[name]?.resources?.limits?.memory]).toEqual([
        name,
        expect.stringMatching(/^\d+[MG]i$/),
      ]);
      expect(templates).toMatch(new RegExp(`toYaml \\$?\\.Values\\.${name}\\.resources`));
    }
  });
});

it('the documentation requires an approval for changes from forks', () => {
  const recipes = readFileSync(join(PACKAGE_FOLDER, 'docs', 'webhooks.md'), 'utf8')
    .split('\n')
    .filter((line) => line.includes('refs/pull/'));
  expect(recipes).toHaveLength(1);
  expect(recipes[0]).toMatch(/"webhook_forks": "(?:approval|never)"/);
});

it('the image does not run as root, and contains the tools of the sandbox', () => {
  const image = readFileSync(join(PACKAGE_FOLDER, 'Dockerfile'), 'utf8');
  const last = image.slice(image.lastIndexOf('\nFROM '));
  expect(last.match(/^USER .*$/gm)?.at(-1)).toBe('USER 1000:1000');
  expect(last).toMatch(/apt-get install[^&]* bubblewrap /);
  expect(image.match(/^(?:ARG|FROM) .*$/gm)).toEqual([
    'ARG NODE_IMAGE=node:24-bookworm-slim',
    'FROM ${NODE_IMAGE} AS build',
    'FROM ${NODE_IMAGE}',
  ]);
});
