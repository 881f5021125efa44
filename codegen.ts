import type { CodegenConfig } from '@graphql-codegen/cli'
import { printSchema } from 'graphql'
import { buildSchema } from './src/graphql/schema.ts'

export default {
  schema: printSchema(buildSchema()),
  generates: { 'schema.graphql': { plugins: ['schema-ast'] } },
} satisfies CodegenConfig
