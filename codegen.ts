import type { CodegenConfig } from '@graphql-codegen/cli'
import { printSchema } from 'graphql'
import { buildSchema } from './src/graphql/schema.ts'

export default {
  schema: printSchema(buildSchema()),
  generates: {
    'schema.graphql': { plugins: ['schema-ast'] },
    'test/clients/generated/': {
      preset: 'client',
      documents: ['test/clients/operations.ts'],
      presetConfig: { fragmentMasking: false },
      config: {
        enumsAsTypes: true,
        useTypeImports: true,
        importExtension: '.ts',
        scalars: { DateTime: 'string', JSONObject: 'Record<string, unknown>' },
        onlyOperationTypes: true,
      },
    },
  },
} satisfies CodegenConfig
