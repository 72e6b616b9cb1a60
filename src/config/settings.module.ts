import { Global, Module } from '@nestjs/common';
import { Settings } from './settings.js';

/** The settings, read once from the environment; a fault stops the process with all faults named. */
@Global()
@Module({
  providers: [{ provide: Settings, useFactory: () => Settings.load(process.env) }],
  exports: [Settings],
})
export class SettingsModule {}
