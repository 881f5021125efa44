import { Conflict, NotFound } from '../../core/errors.ts'
import { withScope } from '../../graphql/field-access.ts'
import { Node, registerNode } from '../../graphql/node.graphql.ts'
import { defineObjectType } from '../../graphql/shape-fields.ts'
import { defineList } from '../../operations/list.ts'
import { defineMutation } from '../../operations/mutation.ts'
import { defineResource } from '../../operations/resource.ts'
import type { RestRoute } from '../../rest/route.ts'
import { encodeIdCursor } from '../../schema/page.ts'
import { idShape } from '../../schema/response-shapes.ts'
import {
  RegisteredDocumentsShape,
  TRUSTED_DOCUMENT_FILTER,
  TrustedDocumentRegistration,
  TrustedDocumentShape,
} from './trusted-documents.fields.ts'
import {
  deleteTrustedDocument,
  findTrustedDocuments,
  listTrustedDocuments,
  registerTrustedDocuments,
  type TrustedDocument,
  toTrustedDocumentListName,
} from './trusted-documents.ts'

const TRUSTED_DOCUMENT = defineResource<TrustedDocument>({
  member: 'trustedDocument',
  ref: defineObjectType<TrustedDocument>(TrustedDocumentShape, {
    ...withScope('clients:read', 'A GraphQL document that a client sends by its id.'),
    interfaces: [Node],
  }),
  scope: 'clients:read',
  shape: TrustedDocumentShape,
  toCursor: ({ tenant }, { id }) => encodeIdCursor(toTrustedDocumentListName(tenant), id),
})

registerNode('trusteddoc', {
  ref: TRUSTED_DOCUMENT.ref,
  scope: TRUSTED_DOCUMENT.scope,
  load: (id, { loaders }) => loaders.over(findTrustedDocuments).load(id),
})

export const trustedDocumentOperations: readonly RestRoute[] = [
  ...defineMutation({
    name: 'registerTrustedDocuments',
    summary:
      'Registers GraphQL documents, which the client then sends by their ids. An id keeps its text; those that are registered already are unchanged.',
    scope: 'clients:write',
    targets: ['clientId'],
    input: TrustedDocumentRegistration,
    errors: [Conflict, NotFound],
    output: RegisteredDocumentsShape.shape,
    rest: {
      method: 'POST',
      path: '/clients/:clientId/trusted-documents',
      response: RegisteredDocumentsShape,
    },
    run: (ctx, { clientId }, input) => registerTrustedDocuments(ctx, clientId, input),
  }),
  ...defineList({
    name: 'listTrustedDocuments',
    summary: 'The registered GraphQL documents, oldest first.',
    resource: TRUSTED_DOCUMENT,
    filter: TRUSTED_DOCUMENT_FILTER,
    path: '/trusted-documents',
    run: listTrustedDocuments,
  }),
  ...defineMutation({
    name: 'deleteTrustedDocument',
    summary: 'Deletes a registered GraphQL document. Its client cannot send it any longer.',
    scope: 'clients:write',
    targets: ['trustedDocumentId'],
    errors: [NotFound],
    output: {
      deletedTrustedDocumentId: idShape.meta({ description: 'Id of the deleted document.' }),
    },
    rest: {
      method: 'DELETE',
      path: '/trusted-documents/:trustedDocumentId',
      message: 'The document was deleted.',
    },
    run: (ctx, { trustedDocumentId }) => deleteTrustedDocument(ctx, trustedDocumentId),
  }),
]
