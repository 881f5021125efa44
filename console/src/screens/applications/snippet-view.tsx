import { useId, useState } from 'react'
import { deployment } from '../../config.ts'
import { t } from '../../words/words.ts'
import { CodeBlock } from './code-block.tsx'
import type { Kind } from './kinds.ts'
import { fillIn } from './snippet-text.ts'
import { SNIPPETS } from './snippets.ts'

/** How an application of a kind signs users in, for a framework that the person chooses. */
export function SnippetView({
  kinds,
  clientId,
  redirectUri,
  initial,
}: {
  kinds: readonly Kind[]
  clientId: string
  redirectUri: string | undefined
  initial?: string | undefined
}) {
  const id = useId()
  const offered = SNIPPETS.filter(({ kind }) => kinds.includes(kind))
  const [chosen, setChosen] = useState(initial)
  const snippet = offered.find((known) => known.id === chosen) ?? offered[0]
  if (!snippet) return null
  const facts = {
    issuer: deployment.issuer,
    clientId,
    redirectUri: redirectUri ?? snippet.redirectUri ?? '',
  }
  return (
    <section className="card snippet">
      <h2>{t('Connect it')}</h2>
      <div className="field">
        <label htmlFor={id}>{t('Built with')}</label>
        <select id={id} value={snippet.id} onChange={({ target }) => setChosen(target.value)}>
          {offered.map((known) => (
            <option key={known.id} value={known.id}>
              {known.label}
            </option>
          ))}
        </select>
      </div>
      {snippet.isUntried && <p className="hint">{t('No test has run this snippet. The others are run.')}</p>}
      <CodeBlock name={t('Commands')} code={fillIn(snippet.commands, facts)} />
      {snippet.files.map(({ name, text }) => (
        <CodeBlock key={`${snippet.id} ${name}`} name={name} code={fillIn(text, facts)} />
      ))}
    </section>
  )
}
