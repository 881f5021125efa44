import { useState } from 'react'
import { CheckField } from '../../parts/form.tsx'
import { LeavingGuard } from '../../parts/settings-form.tsx'
import { t } from '../../words/words.ts'
import { CodeBlock } from './code-block.tsx'

/** A secret, which the server shows only once. `onStored` is called when the person has stored it. */
export function NewSecret({
  secret,
  children,
  onStored,
}: {
  secret: string
  children?: string
  onStored: () => void
}) {
  const [isStored, setIsStored] = useState(false)
  return (
    <section className="card form" aria-label={t('Secret')}>
      <CodeBlock name="CLIENT_SECRET" code={secret} />
      <p>
        {t('It is shown only now. Store it where the application reads its secrets.')} {children}
      </p>
      <CheckField label={t('I have stored it')} checked={isStored} onChange={setIsStored} />
      <div className="actions">
        <button type="button" className="button" disabled={!isStored} onClick={onStored}>
          {t('Continue')}
        </button>
      </div>
      {!isStored && (
        <LeavingGuard isInSearch title={t('Leave without the secret?')}>
          {t('Nothing shows it again.')}
        </LeavingGuard>
      )}
    </section>
  )
}
