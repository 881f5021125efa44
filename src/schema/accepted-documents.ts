import { defineEnum } from './enums.ts'

export const ACCEPTED_DOCUMENTS = defineEnum('AcceptedDocuments', 'Which GraphQL documents are accepted.', {
  any: 'Any document.',
  trusted: 'Documents that are registered for the client, and those of the console.',
})
