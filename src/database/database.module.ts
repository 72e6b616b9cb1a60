import { Global, Module, type DynamicModule } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Settings } from '../config/settings.js';
import { dataSourceOptions } from './data-source.js';
import { Database } from './database.js';
import type { EntityClass } from './table.js';

@Global()
@Module({})
export class DatabaseModule {
  static forEntities(entities: EntityClass[]): DynamicModule {
    return {
      module: DatabaseModule,
      global: true,
      imports: [
        TypeOrmModule.forRootAsync({
          inject: [Settings],
          useFactory: (settings: Settings) => ({
            ...dataSourceOptions(settings, entities),
            retryAttempts: 10,
            retryDelay: 1000,
          }),
        }),
      ],
      providers: [Database],
      exports: [Database],
    };
  }
}
