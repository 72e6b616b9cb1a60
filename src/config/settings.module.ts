import { Global, Module } from '@nestjs/common';
import { Settings } from './settings.js';

/**
 * Settings, read once from the environment. Invalid settings stop the process with an error that names
 * all of them.
 */
@Global()
@Module({
  providers: [{ provide: Settings, useFactory: () => Settings.load(process.env) }],
  exports: [Settings],
})
export class SettingsModule {}
