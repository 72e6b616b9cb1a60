import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Settings } from '../config/settings.js';
import { AmbientDataSource, dataSourceOptions } from './data-source.js';
import { Database } from './database.js';

@Global()
@Module({
  imports: [
    TypeOrmModule.forRootAsync({
      inject: [Settings],
      useFactory: (settings: Settings) => ({
        ...dataSourceOptions(settings),
        retryAttempts: 10,
        retryDelay: 1000,
      }),
      dataSourceFactory: async (options) => {
        if (!options) throw new Error('The factory returned no options');
        return new AmbientDataSource(options);
      },
    }),
  ],
  providers: [
    {
      provide: Database,
      inject: [DataSource],
      useFactory: ({ database }: AmbientDataSource) => database,
    },
  ],
  exports: [Database],
})
export class DatabaseModule {}
