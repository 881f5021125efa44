import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'

const ARTIFACTS = new URL('./src/generated/', import.meta.url)
const DOCUMENTS = './src/generated/documents.json'

// The compiler adds to a file that exists the documents whose artifacts it writes.
if (!existsSync(new URL(DOCUMENTS, import.meta.url))) {
  for (const name of readdirSync(ARTIFACTS)) if (name.endsWith('.ts')) rmSync(new URL(name, ARTIFACTS))
  writeFileSync(new URL(DOCUMENTS, import.meta.url), '{}')
}

const config = {
  src: './src',
  schema: '../schema.graphql',
  schemaExtensions: ['./src/api'],
  language: 'typescript',
  eagerEsModules: true,
  artifactDirectory: './src/generated',
  // The server executes the documents of its build by their hashes.
  persistConfig: { file: DOCUMENTS, algorithm: 'SHA256' },
  customScalarTypes: {
    DateTime: 'string',
    EmailAddress: 'string',
    PhoneNumber: 'string',
    URL: 'string',
    IPAddress: 'string',
    Scope: 'string',
    JSONObject: 'Record<string, unknown>',
  },
  noFutureProofEnums: false,
}

// The compiler requires it, its plugin for Vite imports it.
export { config as default, config as 'module.exports' }
