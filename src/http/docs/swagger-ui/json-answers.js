/**
 * Swagger UI plugin, run in the browser: JSON is indented as text, so that its numbers and the order of its names stay as they
 * were sent. Swagger UI would parse it and write it again. Texts over {@link COLORED_CHARS} get no colors.
 */
;(() => {
  /** Each colored token is an element of its own. */
  const COLORED_CHARS = 16_384
  const INDENT = '  '
  const JSON_TYPES = /^application\/([^;]+\+)?json\b/i
  const TOKENS = /"(?:[^"\\]|\\.)*"|[[\]{}:,]|[^\s[\]{}:,"]+/g
  const AFTER = { ':': ': ' }

  /** The JSON text with a member or an item to a line. Tokens are copied; a text that is no JSON comes out as some text. */
  function indentJson(text) {
    const tokens = text.match(TOKENS) ?? []
    let depth = 0
    const indented = tokens.map((token, i) => {
      const next = tokens[i + 1]
      if (isOpening(token)) depth += 1
      if (isClosing(next)) depth -= 1
      const line = `\n${INDENT.repeat(Math.max(depth, 0))}`
      return (AFTER[token] ?? token) + (endsLine(token, next) ? line : '')
    })
    return indented.join('')
  }

  /** Empty arrays and objects stay on their line. */
  function endsLine(token, next) {
    if (isClosing(next)) return !isOpening(token)
    return token === ',' || isOpening(token)
  }

  const isOpening = (token) => token === '[' || token === '{'
  const isClosing = (token) => token === ']' || token === '}'

  const plugin = ({ React, getComponent }) => ({
    wrapComponents: {
      responseBody: (Original) => (props) => {
        const { content, contentType = '' } = props
        const isJson = typeof content === 'string' && JSON_TYPES.test(contentType)
        if (!isJson) return React.createElement(Original, props)
        return React.createElement(
          getComponent('HighlightCode', true),
          { language: 'json', downloadable: true, fileName: 'answer.json', canCopy: true },
          indentJson(content),
        )
      },
      SyntaxHighlighter: (Original) => (props) => {
        const { children, className } = props
        if (children.length <= COLORED_CHARS) return React.createElement(Original, props)
        return React.createElement(getComponent('PlainTextViewer'), { className }, children)
      },
    },
  })

  window.coatcheck.plugins.push(plugin)
})()
