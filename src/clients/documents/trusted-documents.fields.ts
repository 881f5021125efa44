import * as z from 'zod'
import { requiredText, text } from '../../schema/input-shapes.ts'
import { defineFilter, type Given } from '../../schema/lists.ts'
import { clientIdShape, createIdShape, idShape, instantShape } from '../../schema/response-shapes.ts'

/** The documents of one registration. */
export const MAX_REGISTERED = 1000
/** Characters of a text: more than its tokens take. */
const MAX_TEXT_LENGTH = 20_000

/** Visible ASCII. */
const documentId = requiredText(200).regex(/^[!-~]+$/, 'must have no spaces, and ASCII characters only')

const EXAMPLE = {
  documentId: '4e8fe74b580de8e2685706942a194cfa',
  text: 'query Users { users(first: 10) { nodes { id } } }',
}

const TrustedDocumentInput = z
  .strictObject(
    {
      documentId: documentId.meta({
        description:
          'The id by which the client sends it. One of 64 hexadecimal digits is the SHA-256 of the text.',
        example: EXAMPLE.documentId,
      }),
      text: text(MAX_TEXT_LENGTH).meta({
        description: 'The document, with one operation and all its fragments.',
        example: EXAMPLE.text,
      }),
    },
    'must be an object',
  )
  .meta({ id: 'TrustedDocumentInput', description: 'A document with its id, as in a manifest.' })

/** Input of registerTrustedDocuments. */
export const TrustedDocumentRegistration = z
  .strictObject(
    {
      documents: z
        .array(TrustedDocumentInput, 'must be a list')
        .min(1, 'must not be empty')
        .max(MAX_REGISTERED, `must have at most ${MAX_REGISTERED} documents`)
        .meta({ description: `Up to ${MAX_REGISTERED} documents.`, example: [EXAMPLE] }),
    },
    'must be an object',
  )
  .meta({ id: 'TrustedDocumentRegistration', description: 'Documents of a client.' })

/** The response of registerTrustedDocuments. */
export const RegisteredDocumentsShape = z
  .object({
    registered: z.int().meta({ description: 'The number of documents that are new.', example: 1 }),
    unchanged: z.int().meta({ description: 'The number of those that were registered already.', example: 0 }),
  })
  .meta({ id: 'RegisteredDocuments', description: 'What was registered.' })

/** A document as REST returns it. */
export const TrustedDocumentShape = z
  .object({
    id: createIdShape('trusteddoc').meta({ description: 'Id of the registered document.' }),
    clientId: clientIdShape,
    documentId: z.string(),
    operationName: z.string().nullable(),
    text: z.string(),
    digest: z.string(),
    bytes: z.int(),
    createdAt: instantShape,
  })
  .meta({
    id: 'TrustedDocument',
    model: 'TrustedDocument',
    samples: {
      ...EXAMPLE,
      operationName: 'Users',
      digest: '0d78b32d4e06110139e3c5bf6d94ffeac5792914e80373a2319873d74ab406b1',
      bytes: EXAMPLE.text.length,
    },
  })

/** Which documents a list is about. */
export const TRUSTED_DOCUMENT_FILTER = defineFilter({
  clientId: { shape: idShape, description: 'Of this client.', example: 'client_01k7r3m8wxe4gbr5v2c9t6hznq' },
})
export type TrustedDocumentFilter = Given<typeof TRUSTED_DOCUMENT_FILTER.members>
