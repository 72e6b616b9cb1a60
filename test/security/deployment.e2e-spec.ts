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
    'gives %s a system that nobody writes, and no new rights',
    (name) => {
      const { read_only: isReadOnly, security_opt: options } = services[name] ?? {};
      expect({ isReadOnly, options }).toEqual({
        isReadOnly: true,
        options: ['no-new-privileges:true'],
      });
    },
  );

  it.each(['set-up', 'api', 'worker'])('leaves %s no right of root', (name) => {
    expect(services[name]?.cap_drop).toEqual(['ALL']);
  });

  it('has a Redis that answers nobody without its password', () => {
    const { command = [] } = services.redis ?? {};
    expect(command.at(-1)).toContain(
      `printf 'requirepass %s\\n' "$$REDISCLI_AUTH" | exec redis-server - `,
    );
  });

  it('has no password of its own: whoever gives none gets no service', () => {
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

  it.each(['api', 'worker', 'postgres', 'redis'])('bounds the memory of %s', (name) => {
    expect(services[name]?.mem_limit).toMatch(/^[1-9]\d*g$/);
  });

  it.each(['api', 'worker'])('bounds the processes of %s', (name) => {
    expect(services[name]?.pids_limit).toBeGreaterThan(0);
  });

  it('shows API and worker one key each, in a folder of its own that neither writes', () => {
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
      expect(Object.keys(rest)).toEqual(['OUTBOUND_ALLOW', 'TRUSTED_PROXIES']);
    }
    // An empty volume takes the owner of the folder it is mounted over.
    const image = readFileSync(join(PACKAGE_FOLDER, 'Dockerfile'), 'utf8');
    expect(image).toContain(`install -d -o node -g node -m 0700 /data /keys ${api} ${worker}\n`);
  });

  it('takes images of others by digest where one is given', () => {
    expect([services.postgres?.image, services.redis?.image]).toEqual([
      '${POSTGRES_IMAGE:-postgres:17-bookworm}',
      '${REDIS_IMAGE:-redis:7-bookworm}',
    ]);
    const { args } = services.api?.build ?? {};
    expect(args).toEqual({ NODE_IMAGE: '${NODE_IMAGE:-node:24-bookworm-slim}' });
  });

  it('asks for the proxies in front, without which all clients are one address', () => {
    expect(services.api?.environment?.TRUSTED_PROXIES).toBe('${TRUSTED_PROXIES:-}');
  });

  it('opens the port of the API alone', () => {
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

describe('the chart', () => {
  const templates = readdirSync(join(PACKAGE_FOLDER, 'deploy', 'chart', 'templates'))
    .map((name) => text('chart', 'templates', name))
    .join('\n');

  it('has no password of its own', () => {
    const values = text('chart', 'values.yaml');
    expect(values).not.toMatch(/password:\s*\S/i);
    for (const name of ['POSTGRES', 'POSTGRES_ADMIN', 'REDIS', 'ADMIN']) {
      const made = new RegExp(
        `get \\$old "${name}_PASSWORD" \\| b64dec\\) \\| default \\(randAlphaNum`,
      );
      expect(templates).toMatch(made);
    }
  });

  it('names each pod the keys it needs, one by one, and shows none of them as a file', () => {
    expect(templates).not.toMatch(/envFrom|secretName: \{\{ include|persistentVolumeClaim/);
    const named = /define "controller\.environment"[^]*?range \$key := list ([^}]*) \}\}/;
    expect(named.exec(templates)?.[1]).toBe('"DATABASE_URL" "REDIS_URL" "SECRET_KEY"');
    const worker = text('chart', 'templates', 'worker.yaml');
    expect(worker).not.toContain('ADMIN');
    expect(worker).toContain('"command" $command "admin" false');
    expect(worker).not.toMatch(/secretKeyRef|secretVariable|secretName/);
  });

  it('has a Redis that answers nobody without its password', () => {
    expect(templates).toMatch(
      /printf 'requirepass %s\\n' "\$REDISCLI_AUTH" \|\s+exec redis-server - /,
    );
  });

  it('gives no pod the rights of root, or a word with the cluster', () => {
    const pods = templates.match(/^kind: (?:Deployment|StatefulSet)$/gm) ?? [];
    expect(pods).toHaveLength(4);
    expect(templates.match(/automountServiceAccountToken: false/g)).toHaveLength(pods.length);
    expect(templates.match(/include "controller\.(?:pod|datastore)Security"/g)).toHaveLength(
      pods.length,
    );
    expect(templates.match(/runAsNonRoot: true/g)).toHaveLength(2);
  });

  it('takes the image by digest where one is given', () => {
    const values = parse(text('chart', 'values.yaml')) as { image: object };
    expect(values.image).toHaveProperty('digest', '');
    expect(templates).toContain('{{ $.Values.image.repository }}@{{ . }}');
  });

  it('lets nobody but its own reach PostgreSQL and Redis, and nobody the workers', () => {
    expect(templates).toContain('dict "postgresql" 5432 "redis" 6379');
    expect(templates.match(/kind: NetworkPolicy/g)).toHaveLength(3);
    expect(templates).toContain("policyTypes: ['Ingress']\n  ingress: []");
  });

  it('has containers that write no system and gain no rights', () => {
    const containers =
      templates.match(/^\s+- name: (?:api|worker|migrate|postgresql|redis)$/gm) ?? [];
    const secured = templates.match(/include "controller\.containerSecurity"/g) ?? [];
    // A value of the chart selects the security context of the worker.
    expect(secured.length + 1).toBeGreaterThanOrEqual(containers.length);
    expect(templates.match(/readOnlyRootFilesystem: true/g)).toHaveLength(2);
    expect(templates.match(/allowPrivilegeEscalation: false/g)).toHaveLength(2);
  });

  it('asks for the proxies in front, without which all clients are one address', () => {
    expect(text('chart', 'values.yaml')).toContain('TRUSTED_PROXIES');
  });

  it('bounds the memory of whatever runs', () => {
    const values = parse(text('chart', 'values.yaml')) as Record<
      string,
      { resources?: { limits?: { memory?: string } } }
    >;
    for (const name of ['api', 'worker', 'postgresql', 'redis']) {
      expect([name, values[name]?.resources?.limits?.memory]).toEqual([
        name,
        expect.stringMatching(/^\d+[MG]i$/),
      ]);
      expect(templates).toContain(`toYaml .Values.${name}.resources`);
    }
  });
});

it('the documentation runs changes of strangers only after an approval', () => {
  const recipes = readFileSync(join(PACKAGE_FOLDER, 'docs', 'webhooks.md'), 'utf8')
    .split('\n')
    .filter((line) => line.includes('refs/pull/'));
  expect(recipes).toHaveLength(1);
  expect(recipes[0]).toMatch(/"webhook_forks": "(?:approval|never)"/);
});

it('the image is not run by root, and brings what keeps runs apart', () => {
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
