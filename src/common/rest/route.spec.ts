import { Controller, Get, Post } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { Char, fieldsOf } from '../fields/field.js';
import * as json from '../fields/json-schema.js';
import { Route, type RouteInfo } from './route.js';

const info: RouteInfo = {
  kind: 'document',
  operationId: 'shelves_read',
  summary: 'Shows one shelf.',
  response: json.object({ name: json.STRING }),
};

async function documentOf(controller: new () => object): Promise<OpenAPIObject> {
  const module = await Test.createTestingModule({ controllers: [controller] }).compile();
  const app = module.createNestApplication();
  await app.init();
  try {
    return SwaggerModule.createDocument(app, new DocumentBuilder().build());
  } finally {
    await app.close();
  }
}

class Shelf {
  @Char({ required: true })
  declare name: string;
}

it('@Route describes the operation in the OpenAPI document', async () => {
  @Controller('shelves')
  class Shelves {
    @Route(info)
    @Get(':shelf')
    read(): object {
      return {};
    }
  }
  const { paths } = await documentOf(Shelves);
  expect(paths['/shelves/{shelf}']?.get).toMatchObject({
    operationId: 'shelves_read',
    summary: 'Shows one shelf.',
    security: [{ bearer: [] }, { basic: [] }, { session: [] }],
    parameters: [{ name: 'shelf', in: 'path', required: true, description: 'Shelf.' }],
    responses: {
      200: {
        description: 'Shows one shelf.',
        content: { 'application/json': { schema: json.object({ name: json.STRING }) } },
      },
      400: { description: 'Invalid request data.' },
      401: { description: 'Authentication required.' },
    },
  });
});

it('@Route reads fields when the document is built, not when the route is declared', async () => {
  let isLoaded = false;
  @Controller('shelves')
  class Shelves {
    @Route({
      ...info,
      kind: 'action',
      get body() {
        if (!isLoaded) throw new Error('The fields are not loaded yet.');
        return fieldsOf(Shelf);
      },
    })
    @Post()
    add(): object {
      return {};
    }
  }
  isLoaded = true;
  const { paths } = await documentOf(Shelves);
  expect(paths['/shelves']?.post?.requestBody).toMatchObject({
    content: {
      'application/json': {
        schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      },
    },
  });
});

it('@Route throws below the decorator of the HTTP method', () => {
  const declare = (): unknown => {
    class Shelves {
      @Get()
      @Route(info)
      read(): object {
        return {};
      }
    }
    return Shelves;
  };
  expect(declare).toThrow('shelves_read has its verb below @Route');
});
