import { getScreenDocument, type ScreenDocument } from '../api/screen-document.ts'
import { GRAPHQL_URL } from '../config.ts'
import { copyText } from '../parts/copied-text.tsx'
import { notify } from '../parts/notices.tsx'
import { t } from '../words/words.ts'

/** The document, with its variables in comments. */
const toGraphQL = ({ text, variables }: ScreenDocument): string =>
  Object.keys(variables).length === 0
    ? text
    : `${text}\n# Variables:\n${JSON.stringify(variables, null, 2).replaceAll(/^/gm, '# ')}\n`

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** A command that sends the document. A token of the console is bound to this page: the command has one of its own. */
const toCurl = ({ text, variables }: ScreenDocument): string =>
  [
    `curl ${quote(GRAPHQL_URL)}`,
    '-H "Authorization: Bearer $TOKEN"',
    `-H 'Content-Type: application/json'`,
    `-d ${quote(JSON.stringify({ query: text, variables }))}`,
  ].join(' \\\n  ')

async function copy(format: (document: ScreenDocument) => string, name: string): Promise<void> {
  const document = getScreenDocument()
  if (!document) return notify(t('This screen has no query.'))
  await copyText(format(document)).then(
    () => notify(t('The query of this screen is copied as {name}.', { name })),
    ({ message }: Error) => notify(message),
  )
}

function runScreen(run: (query: string, variables: string) => void): void {
  const document = getScreenDocument()
  if (document) run(document.text, JSON.stringify(document.variables, null, 2))
  else notify(t('This screen has no query.'))
}

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
    <button type="button" className="link" onClick={() => runScreen(run)}>
      {t('run')}
    </button>
  </p>
)
