/// The style of the page: light and dark, from 320 points on.
enum PageStyle {
    /// What stands between the tags of `style`.
    static let text: StaticString = #"""
        :root{color-scheme:light dark;--paper:#faf8f4;--raised:#fffefb;--ink:#1f1c17;--quiet:#635c51;--line:#e4ded2;
        --track:#e6e0d4;
        --accent:#0a6a5a;--half:#4f9c8c;--rest:#8f8470;--on:#fff;--alarm:#9e2f1b}
        @media (prefers-color-scheme:dark){:root{--paper:#151310;--raised:#1d1a16;--ink:#f2eee6;--quiet:#a79f92;
        --line:#2f2b25;
        --track:#35302a;--accent:#5cd0b4;--half:#318a76;--rest:#7b7163;--on:#0c201b;--alarm:#ff9b84}}
        *{box-sizing:border-box}
        html{-webkit-text-size-adjust:100%;scroll-padding-top:1rem}
        body{margin:0;background:var(--paper);color:var(--ink);
        font:400 1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;
        font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
        h1,h2,p,ul,ol,dl,dd,table{margin:0;padding:0}
        ul,ol{list-style:none}
        .page{max-width:76rem;margin:auto;padding:0 clamp(1rem,4vw,3rem)}
        .skip,.hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);
        white-space:nowrap}
        .skip:focus{position:fixed;z-index:2;inset:.75rem auto auto .75rem;width:auto;height:auto;clip-path:none;
        padding:.5rem 1rem;
        background:var(--raised)}
        a{color:inherit;text-decoration-color:var(--rest);text-underline-offset:.2em}
        a:hover{text-decoration-color:currentColor}
        :focus-visible{outline:3px solid var(--accent);outline-offset:2px;border-radius:.375rem}
        .top{display:flex;flex-wrap:wrap;gap:.25rem 1.5rem;justify-content:space-between;align-items:center;
        padding:1.25rem 0}
        .top h1{display:flex;gap:.625rem;align-items:center;font-size:1.0625rem;font-weight:650;
        letter-spacing:-.01em}
        .top svg{width:1.5rem;height:1.5rem;fill:var(--accent)}
        .top .track{fill:var(--track)}
        .state{display:flex;gap:.5rem;align-items:center;color:var(--quiet);font-size:.875rem}
        .state::before{content:"";width:.5rem;height:.5rem;border-radius:50%;background:var(--accent)}
        .state.bad{color:var(--alarm)}
        .state.bad::before{background:var(--alarm)}
        .hero{padding:clamp(1.5rem,5vw,4rem) 0 clamp(2rem,5vw,3.5rem)}
        .hero h2,section>h2{font-size:.875rem;font-weight:600;color:var(--quiet)}
        .figures{display:grid;gap:1.5rem 4rem;align-items:end;margin-bottom:2.25rem}
        .figure{font-size:clamp(3.5rem,13vw,8.5rem);line-height:1;font-weight:700;letter-spacing:-.045em;
        margin:.25rem 0 .75rem -.03em;
        white-space:nowrap}
        .figure small{font-size:.42em;font-weight:600;letter-spacing:-.02em;margin-left:.18em}
        .lead{color:var(--quiet);max-width:34rem}
        .lead b{color:var(--ink);font-weight:650}
        .chart svg{display:block;width:100%;height:7rem;overflow:visible}
        .chart polyline{fill:none;stroke-width:2;stroke-linejoin:round;vector-effect:non-scaling-stroke}
        .chart path{stroke:var(--line);vector-effect:non-scaling-stroke}
        .chart .served{stroke:var(--accent)}
        .chart .fetched{stroke:var(--rest);stroke-dasharray:4 3}
        .chart p{display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 1rem;color:var(--quiet);
        font-size:.8125rem;margin-top:.5rem}
        .bar{display:block;width:100%;height:.5rem;border-radius:1rem;background:var(--track);fill:var(--accent)}
        .sources{height:1.25rem}
        .bar .joined,.key.joined{fill:var(--half);background:var(--half)}
        .bar .origin,.key.origin{fill:var(--rest);background:var(--rest)}
        .legend{display:grid;grid-template-columns:repeat(auto-fit,minmax(7.5rem,1fr));gap:1.25rem;
        margin-top:1.25rem}
        .legend dt{display:flex;gap:.5rem;align-items:center;font-size:.875rem;color:var(--quiet)}
        .legend b{font-size:1.5rem;font-weight:650;letter-spacing:-.02em}
        .legend dd span{white-space:nowrap;margin-left:.25rem;font-size:.875rem;color:var(--quiet)}
        .key{width:.75rem;height:.75rem;border-radius:.25rem;background:var(--accent);flex:none}
        section{border-top:1px solid var(--line);padding:1.75rem 0 2.25rem;display:grid;gap:1rem}
        section>div{min-width:0}
        .item{padding:1.125rem 0;border-top:1px solid var(--line);display:grid;gap:.75rem 2.5rem;align-items:center}
        .item:first-child{border-top:0;padding-top:0}
        .item .bar{margin:.5rem 0 .375rem}
        .name{font-weight:600}
        .host,.facts{color:var(--quiet);font-size:.875rem}
        .host{margin-left:.375rem}
        .badge{display:inline-block;margin-left:.375rem;padding:0 .5rem;border:1px solid var(--rest);
        border-radius:1rem;
        font-size:.75rem;line-height:1.25rem;color:var(--quiet)}
        .actions{display:flex;flex-wrap:wrap;gap:.5rem}
        button,input,select{font:inherit;font-size:.875rem;color:inherit;background:var(--raised);
        border:1px solid var(--rest);
        border-radius:.5rem;padding:.375rem .75rem;min-height:2.25rem}
        button{cursor:pointer;font-weight:550}
        .item button{min-width:4.75rem}
        button:hover{border-color:var(--accent);color:var(--accent)}
        button:disabled{opacity:.55;cursor:default}
        button.main{background:var(--accent);border-color:var(--accent);color:var(--on)}
        button.danger:hover{border-color:var(--alarm);color:var(--alarm)}
        button.main.danger{background:var(--alarm);border-color:var(--alarm);color:var(--paper)}
        #disk-words{margin-top:.75rem}
        #health{margin-bottom:1.5rem}
        .tools{display:flex;flex-wrap:wrap;gap:.5rem .75rem;margin-bottom:1.25rem}
        .tools input{flex:1 1 12rem;min-width:0;padding-inline:.875rem}
        .more{margin-top:.75rem}
        .none{color:var(--quiet)}
        .scroll{overflow-x:auto}
        table{border-collapse:collapse;width:100%;font-size:.9375rem}
        caption{text-align:left;color:var(--quiet);font-size:.875rem;padding-bottom:.5rem}
        th{font-weight:400;text-align:left}
        thead th{color:var(--quiet);font-size:.8125rem;border-bottom:1px solid var(--line)}
        th,td{padding:.5rem 1.25rem .5rem 0}
        td,th.number{text-align:right;white-space:nowrap}
        th:last-child,td:last-child{padding-right:0}
        tbody tr+tr>*{border-top:1px solid var(--line)}
        .events{font-size:.9375rem}
        .events li{display:grid;grid-template-columns:4.75rem minmax(0,1fr);gap:1rem;padding:.3125rem 0}
        .events time{color:var(--quiet);white-space:nowrap}
        dialog{color:inherit;background:var(--raised);border:1px solid var(--line);border-radius:1rem;
        padding:1.5rem;
        width:min(30rem,calc(100vw - 2rem));box-shadow:0 1.5rem 4rem #0004}
        dialog::backdrop{background:#0c0a08a6}
        dialog h2{font-size:1.125rem;margin-bottom:.5rem}
        dialog .actions{margin-top:1.25rem;justify-content:flex-end}
        dialog label{display:grid;gap:.375rem;margin-top:1rem;font-size:.875rem}
        dialog select{width:100%;min-width:0}
        .player{width:min(60rem,calc(100vw - 2rem))}
        .player video,.player audio{display:block;width:100%;max-height:70vh;border-radius:.5rem}
        .player video{background:#000}
        .status{position:fixed;z-index:1;left:50%;bottom:1rem;transform:translateX(-50%);width:max-content;
        max-width:calc(100vw - 2rem);
        padding:.625rem 1.125rem;border-radius:.75rem;background:var(--ink);color:var(--paper);font-size:.875rem}
        .status:empty{visibility:hidden}
        main{padding-bottom:3rem}
        .address{color:var(--quiet);font-size:.875rem}
        .address #address{color:var(--ink)}
        .address button{min-height:0;padding:.125rem .5rem}
        code{font-size:.9375em;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
        [hidden]{display:none!important}
        @media (min-width:44rem){.item:has(.actions){grid-template-columns:minmax(0,1fr) auto}
        .item .actions{justify-content:flex-end}}
        @media (min-width:62rem){.figures{grid-template-columns:minmax(0,1fr) minmax(18rem,26rem)}
        section{grid-template-columns:9rem minmax(0,1fr);gap:3rem}}
        @media (prefers-reduced-motion:no-preference){.bar rect{transition:width .4s ease}button,
        a{transition:color .15s,border-color .15s}}
        @media (forced-colors:active){.bar,.key{forced-color-adjust:none}.bar{border:1px solid CanvasText}}
        """#
}
