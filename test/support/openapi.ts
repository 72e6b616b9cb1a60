/** Parts of an OpenAPI document that tests read, and the list of its operations. */

export type JsonSchema = Record<string, unknown> & {
  type?: string | string[];
  properties?: Record<string, JsonSchema>;
  enum?: unknown[];
};

interface Content {
  content: Record<string, { schema?: JsonSchema; examples?: Record<string, { value: unknown }> }>;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header' | 'cookie';
  required?: boolean;
  description?: string;
  schema?: JsonSchema;
}

export interface Operation {
  /** Method in capitals. */
  method: string;
  path: string;
  operationId: string;
  tags: string[];
  summary?: string;
  description?: string;
  security: Record<string, string[]>[];
  parameters: Parameter[];
  requestBody?: Content;
  responses: Record<string, Partial<Content>>;
}

export interface OpenApiDocument {
  openapi: string;
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Omit<Operation, 'method' | 'path'>>>;
  components: { schemas: Record<string, JsonSchema>; securitySchemes: Record<string, unknown> };
}

export const operationsOf = ({ paths }: OpenApiDocument): Operation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      parameters: operation.parameters ?? [],
      method: method.toUpperCase(),
      path,
    })),
  );
