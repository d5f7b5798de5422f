/**
 * Swagger UI plugin, run in the browser. Of the responses that an operation declares, only those
 * with an own example are shown whole. Any other is a row with its folded headers and its
 * description, which links to the page of each problem code.
 */
;(() => {
  const plugin = ({ React }) => {
    const h = React.createElement

    const FoldedHeaders = ({ headers, getComponent }) =>
      h(
        'details',
        {},
        h('summary', {}, 'Headers'),
        h(getComponent('headers'), { headers, getComponent }),
      )

    const ResponseRow = ({ code, response, getComponent }) => {
      const headers = response.get('headers')
      return h(
        'tr',
        { className: 'response', 'data-code': code },
        h('td', { className: 'response-col_status' }, code),
        h(
          'td',
          { className: 'response-col_description' },
          h(getComponent('Markdown', true), { source: response.get('description') }),
          headers === undefined ? null : h(FoldedHeaders, { headers, getComponent }),
        ),
      )
    }

    return {
      wrapComponents: {
        response: (Original) => (props) => {
          const { response } = props
          const types = response.get('content')
          const hasExample = types?.some((media) => media.has('example')) ?? false
          // A reference is not resolved yet; it is rendered again later.
          return h(hasExample || response.has('$ref') ? Original : ResponseRow, props)
        },
      },
    }
  }

  window.coatcheck.plugins.push(plugin)
})()
