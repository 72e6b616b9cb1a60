import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { BaseUrl } from './base-url.service.js';
import { InstallationRepository } from './installation.repository.js';
import { RuntimeSettings } from './runtime-settings.service.js';
import { SettingsController } from './settings.controller.js';
import { SettingsRepository } from './settings.repository.js';
import { ChangedSetting, InstallationFact } from './setting.entity.js';

@Global()
@Module({
  imports: [TypeOrmModule.forFeature([ChangedSetting, InstallationFact])],
  controllers: [SettingsController],
  providers: [SettingsRepository, InstallationRepository, RuntimeSettings, BaseUrl],
  exports: [InstallationRepository, RuntimeSettings, BaseUrl],
})
export class SettingsApiModule {}
