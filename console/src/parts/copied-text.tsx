import { type ReactNode, useState } from 'react'
import { t } from '../words/words.ts'

const SHOWN_MS = 1500

/** A button that copies a text, and says so. */
export function CopyButton({
  text,
  className,
  label,
  children,
}: {
  text: string
  className: string
  label?: string
  children: ReactNode
}) {
  const [isCopied, setIsCopied] = useState(false)
  return (
    <button
      type="button"
      className={className}
      title={t('Copy')}
      aria-label={label}
      onClick={() =>
        void navigator.clipboard.writeText(text).then(() => {
          setIsCopied(true)
          setTimeout(() => setIsCopied(false), SHOWN_MS)
        })
      }
    >
      {children}
      <span role="status">{isCopied ? t('Copied') : ''}</span>
    </button>
  )
}

/** A text such as an id, which a click copies. */
export const CopiedText = ({ text }: { text: string }) => (
  <CopyButton text={text} className="copied-text">
    <code>{text}</code>
  </CopyButton>
)
