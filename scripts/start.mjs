/**
 * `npm start`: sets everything up and runs the service until Ctrl-C. This file only checks the
 * platform and Node, and uses no new syntax, so that an old Node prints a message instead of a syntax error.
 */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (process.platform === 'win32') {
  console.error('✗ Windows is not supported directly: use WSL, or docker compose');
  process.exit(1);
}
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`✗ Node ${process.versions.node} is too old: 20.19 or newer is needed`);
  process.exit(1);
}

const { startService } = await import('./setup/start-service.mjs');
await startService();
