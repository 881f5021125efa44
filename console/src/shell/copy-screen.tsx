import { loadDocumentText } from '../api/document-texts.ts'
import { getScreenDocument } from '../api/screen-document.ts'
import { GRAPHQL_URL } from '../config.ts'
import { copyText } from '../parts/copied-text.tsx'
import { notify } from '../parts/notices.tsx'
import { t } from '../words/words.ts'

type Copied = { text: string; variables: object }

/** The document, with its variables in comments. */
const toGraphQL = ({ text, variables }: Copied): string =>
  Object.keys(variables).length === 0
    ? text
    : `${text}\n# Variables:\n${JSON.stringify(variables, null, 2).replaceAll(/^/gm, '# ')}\n`

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** A command that sends the document. A token of the console is bound to this page: the command has one of its own. */
const toCurl = ({ text, variables }: Copied): string =>
  [
    `curl ${quote(GRAPHQL_URL)}`,
    '-H "Authorization: Bearer $TOKEN"',
    `-H 'Content-Type: application/json'`,
    `-d ${quote(JSON.stringify({ query: text, variables }))}`,
  ].join(' \\\n  ')

async function withScreen(use: (document: Copied) => unknown): Promise<void> {
  const document = getScreenDocument()
  if (!document) return notify(t('This screen has no query.'))
  try {
    await use({ text: await loadDocumentText(document.id), variables: document.variables })
  } catch (error) {
    notify((error as Error).message)
  }
}

const copy = (format: (document: Copied) => string, name: string): Promise<void> =>
  withScreen(async (document) => {
    await copyText(format(document))
    notify(t('The query of this screen is copied as {name}.', { name }))
  })

/** Copies the query of the present screen, or opens it where it can be changed and sent. */
export const CopyScreen = ({ run }: { run: (query: string, variables: string) => void }) => (
  <p className="copy-screen">
    {t('Copy as')}{' '}
    <button type="button" className="link" onClick={() => void copy(toGraphQL, 'GraphQL')}>
      GraphQL
    </button>{' '}
    <button type="button" className="link" onClick={() => void copy(toCurl, t('a curl command'))}>
      curl
    </button>{' '}
    {t('or')}{' '}
    <button
      type="button"
      className="link"
      onClick={() => void withScreen(({ text, variables }) => run(text, JSON.stringify(variables, null, 2)))}
    >
      {t('run')}
    </button>
  </p>
)
