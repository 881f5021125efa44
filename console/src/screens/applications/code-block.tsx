import { CopyButton } from '../../parts/copied-text.tsx'
import { t } from '../../words/words.ts'

/** A file or commands, which a click copies. */
export const CodeBlock = ({ name, code }: { name: string; code: string }) => (
  <figure className="code">
    <figcaption>
      <code>{name}</code>
      <CopyButton text={code} className="button quiet" label={t('Copy {name}', { name })}>
        {t('Copy')}
      </CopyButton>
    </figcaption>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls what is wider than its place */}
    <section tabIndex={0} aria-label={name}>
      <pre>
        <code>{code}</code>
      </pre>
    </section>
  </figure>
)
