import type { CodegenConfig } from '@graphql-codegen/cli'
import { printSchema } from 'graphql'
import { buildSchema } from './src/server/graphql-schema.ts'

export default {
  schema: printSchema(buildSchema()),
  generates: {
    'schema.graphql': { plugins: ['schema-ast'] },
    'test/client-libraries/generated/': {
      preset: 'client',
      documents: ['test/client-libraries/operations.ts'],
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
